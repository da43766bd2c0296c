/* One-sided operations: a window over memory of the team, who reaches whose memory, and what keeps transfers in order.
 *
 *   open | transfer transfer ... | wait for their requests | close
 *
 * A row says who reaches whom and how one block is moved. The choice `allocation` says whose memory is reached, and the
 * choice `epoch` what opens and closes. */
#ifndef RANKBENCH_TARGET_H
#define RANKBENCH_TARGET_H

#include "base/choices.h"
#include "base/op.h"

extern const struct choice allocation_choice, epoch_choice;

/* How many blocks the origin moves to or from the target's memory in one call. */
typedef int rma_pattern(const struct call *call, int origin, int target);
rma_pattern first_to_second, both_ways, first_of_pair, to_neighbours, root_to_others, to_all_others, others_to_root;

/* What the row does with the memory that it reaches. All that is added goes to one place. */
enum rma_kind { PUTS, GETS, ADDS };

/* One number, for operations that move no more. */
union element {
    unsigned char bytes[sizeof(double)];
    double number;
};

/* A block of this rank, and where its counterpart lies in the window of another. */
struct transfer {
    int rank;
    MPI_Aint place;
    long local;
};

struct epoch;

struct target {
    MPI_Win window;
    /* What others reach of this rank, and where that begins in each rank's window. */
    unsigned char *memory;
    long bytes;
    /* By MPI. */
    bool is_allocated_by_mpi;
    MPI_Aint *places;
    rma_pattern *reaches;
    enum rma_kind rma_kind;
    struct transfer *transfers;
    int transfer_count;
    /* Whom this rank reaches, and whether it is reached. */
    int *peers;
    int peer_count;
    bool reached;
    MPI_Group origins, targets;
    bool attached, locked;
    /* Whether both copies of the window are one, so that what others moved is seen without a call; whether none may be made. */
    bool unified, without_mpi;
    const struct epoch *epoch;
    int (*open)(const struct target *);
    int (*close)(const struct target *);
    /* Of operations on one number: what is there, what they bring, what they get; whose turn it is, and whether they swap. */
    union element element, operands[2], result;
    int turn;
    bool filled, swaps;
    /* Of targets that compute. */
    int64_t busy_ns;
};

static inline struct target *target_of(const struct call *call) {
    return call->state;
}

/* Collective. Others reach what this rank sends, if the row gets, else what it receives; or one number. */
int make_target(struct call *call, rma_pattern *reaches, enum rma_kind rma_kind);
int make_element_target(struct call *call);
void finish_target(struct call *call);

/* Moves one block, or begins to. */
typedef int transfer_function(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request);
int run_transfers(struct call *call, transfer_function *move);

/* Not timed: what is complete for its origin alone arrives. */
int complete_at_target(struct call *call);

/* Makes visible to others what this rank stored in its window, and to this rank what others did. */
void synchronise_memory(const struct call *call);

void fill_moved(struct call *call);
void check_moved(const struct call *call, struct mismatch *mismatch);
/* Every rank's numbers, and those of the target before. */
void fill_added(struct call *call);
void check_added(const struct call *call, struct mismatch *mismatch);

/* Whether others reach this rank's memory without a call of its own. */
bool is_passive_target(const struct call *call);

/* No call of MPI is made to see what others moved, wherever both copies of the window are one. */
void avoid_mpi(const struct call *call, bool without_mpi);
/* Whether data can be checked so. */
bool is_visible_without_mpi(const struct call *call);
/* Whether others reach this rank's memory. */
bool is_target(const struct call *call);

int count_window(const struct call *call);
int count_others(const struct call *call);

/* Collective: what cannot be, of choices and of where ranks are. */
const char *refuse_target(const struct call *call);
const char *refuse_active_targets(const struct call *call);
const char *refuse_reduction(const struct call *call);

#define ONE_SIDED \
    .kind = KIND_ONE_SIDED, .timing.completes = true, .data.keeps_buffers = true, .hooks.finish = finish_target, \
    .hooks.is_passive_target = is_passive_target
#define MOVES ONE_SIDED, .data.sized = true, .hooks.fill = fill_moved, .hooks.check = check_moved
#define ADDITION \
    ONE_SIDED, .data.sized = true, .data.datatypes = NUMBERS, .data.accumulates = true, .hooks.refuses = refuse_reduction, \
               .hooks.fill = fill_added
/* One number goes there and one comes back. */
#define ON_ELEMENT ONE_SIDED, TO_SECOND, .data.accumulates = true

#define ONE_BY_ONE .metric = METRIC_TIME, CHOICES(&allocation_choice, &epoch_choice)
#define WINDOWED .hooks.count_messages = count_window, CHOICES(&window_choice, &allocation_choice, &epoch_choice)
#define ORIGIN_MEASURES .timing.rank_0_measures = true, .timing.start = "none"
/* Ranks that are ready wait in the next round's barrier, where they make progress for the others. */
#define ALL_MEASURE .timing.start = "barrier"
#define EACH_MESSAGE {.base = 1, .per_message = true}

/* Who moves how many messages; what one side alone sends and receives is left to the row. */
#define TO_SECOND ONE_BY_ONE, ORIGIN_MEASURES, .ranks.between_two = true
#define MANY_TO_SECOND WINDOWED, ORIGIN_MEASURES, .metric = METRIC_BANDWIDTH, .ranks.between_two = true
#define BOTH_WAYS \
    WINDOWED, ALL_MEASURE, .metric = METRIC_BANDWIDTH, .ranks.between_two = true, SENDS(EACH_MESSAGE), RECEIVES(EACH_MESSAGE)
#define IN_PAIRS WINDOWED, ALL_MEASURE, .metric = METRIC_RATE, .ranks.in_pairs = true, SENDS(EACH_MESSAGE), RECEIVES(EACH_MESSAGE)
#define TO_OTHERS ONE_BY_ONE, ORIGIN_MEASURES, .ranks.least = 2, .hooks.count_messages = count_others
#define AMONG_ALL ONE_BY_ONE, ALL_MEASURE, .ranks.least = 2, SENDS(EACH_MESSAGE), RECEIVES(EACH_MESSAGE)

#endif
