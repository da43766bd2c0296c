/* One-sided operations: a window over memory of the team, which ranks access which, and the synchronisation.
 *
 *   open | transfer transfer ... | wait for their requests | close
 *
 * A row sets which ranks access which (`rma`) and how a block is moved. The choice `allocation` sets whose memory
 * is accessed, the choice `epoch` what opens and closes. */
#ifndef RANKBENCH_TARGET_H
#define RANKBENCH_TARGET_H

#include "base/choices.h"
#include "base/op.h"

extern const struct choice allocation_choice, epoch_choice;

/* Who reaches whom (`rma.pattern` of a row). */
typedef int rma_pattern(const struct call *call, int until, int target);
rma_pattern first_to_second, both_ways, first_of_pair, to_neighbours, root_to_others, to_all_others, others_to_root;

/* One number, for operations on single elements. */
union element {
    unsigned char bytes[sizeof(double)];
    double number;
};

/* A block of this rank, and its place in the window of another. */
struct transfer {
    int rank;
    MPI_Aint place;
    long local;
};

struct epoch;

struct target {
    MPI_Win window;
    /* Memory of this rank in the window, and the place of such memory in each rank's window. */
    unsigned char *memory;
    long bytes;
    /* The memory was allocated by MPI. */
    bool is_allocated_by_mpi;
    MPI_Aint *places;
    struct transfer *transfers;
    int transfer_count;
    /* The targets of this rank, and whether it is a target itself. */
    int *peers;
    int peer_count;
    bool reached;
    MPI_Group origins, targets;
    bool attached, locked;
    /* Whether both copies of the window are one, so that transfers are visible without a call; and whether calls are to
     * be avoided. */
    bool unified, without_mpi;
    const struct epoch *epoch;
    int (*open)(const struct target *);
    int (*close)(const struct target *);
    /* Operations on single elements: the target's number, the operands, the result; the operand in use, and whether the
     * swap must happen. */
    union element element, operands[2], result;
    int turn;
    bool filled, swaps;
    /* Computing time of targets. */
    int64_t busy_ns;
};

static inline struct target *get_target(const struct call *call) {
    return call->state;
}

/* Collective. The window is over the send buffer if the row gets, else over the receive buffer; or over one number. */
int make_target(struct call *call);
int make_element_target(struct call *call);
void finish_target(struct call *call);

/* Moves one block, or starts to. */
typedef int transfer_function(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request);
int run_transfers(struct call *call, transfer_function *move);

/* Not timed: completes at the target what is complete at the origin only. */
int complete_at_target(struct call *call);

/* Makes stores of this rank visible to others, and those of others to this rank. */
void synchronise_memory(const struct call *call);

void fill_moved(struct call *call);
void check_moved(const struct call *call, struct mismatch *mismatch);
/* Numbers of every rank, added to those of the target. */
void fill_added(struct call *call);
void check_added(const struct call *call, struct mismatch *mismatch);

/* Whether others access this rank's memory without a call of its own. */
bool is_passive_target(const struct call *call);

/* Whether targets take part in the calls. */
bool is_active(const struct call *call);

/* Avoids calls of MPI to see what others moved, if both copies of the window are one. */
void avoid_mpi(const struct call *call, bool without_mpi);
/* Whether data can be checked without such calls. */
bool is_visible_without_mpi(const struct call *call);
/* Whether others write to this rank's memory. */
bool is_target(const struct call *call);

int count_window(const struct call *call);
int count_others(const struct call *call);

/* Collective: why the choices are invalid on these ranks. */
const char *refuse_target(const struct call *call);
const char *refuse_active_targets(const struct call *call);
const char *refuse_reduction(const struct call *call);

#define ONE_SIDED \
    .kind = KIND_ONE_SIDED, .timing.completes = true, .data.keeps_buffers = true, .hooks.finish = finish_target, \
    .hooks.is_passive_target = is_passive_target
#define MOVES ONE_SIDED, .data.sized = true, .hooks.fill = fill_moved, .hooks.check = check_moved
#define ADDITION \
    ONE_SIDED, .data.sized = true, .data.datatypes = NUMBERS, .data.accumulates = true, .hooks.refuse = refuse_reduction, \
               .rma.kind = ADDS, .hooks.fill = fill_added
/* One number is sent and one is returned. */
#define ON_ELEMENT ONE_SIDED, TO_SECOND, .rma.kind = ADDS, .data.accumulates = true

#define ONE_BY_ONE .metric = METRIC_TIME, CHOICES(&allocation_choice, &epoch_choice)
#define WINDOWED .hooks.count_messages = count_window, CHOICES(&window_choice, &allocation_choice, &epoch_choice)
#define ORIGIN_MEASURES .timing.rank_0_measures = true, .timing.start = "none"
/* Ranks that are done wait in the barrier of the next round, where they give the others progress. */
#define ALL_MEASURE .timing.start = "barrier"
#define EACH_MESSAGE {.base = 1, .per_message = true}

/* Patterns with their number of messages; amounts of one side are set by the row. */
#define TO_SECOND ONE_BY_ONE, ORIGIN_MEASURES, .ranks.between_two = true, .rma.pattern = first_to_second
#define MANY_TO_SECOND \
    WINDOWED, ORIGIN_MEASURES, .metric = METRIC_BANDWIDTH, .ranks.between_two = true, .rma.pattern = first_to_second
#define BOTH_WAYS \
    WINDOWED, ALL_MEASURE, .metric = METRIC_BANDWIDTH, .ranks.between_two = true, .rma.pattern = both_ways, SENDS(EACH_MESSAGE), \
                                                       RECEIVES(EACH_MESSAGE)
#define IN_PAIRS \
    WINDOWED, ALL_MEASURE, .metric = METRIC_RATE, .ranks.in_pairs = true, .rma.pattern = first_of_pair, SENDS(EACH_MESSAGE), \
                                                  RECEIVES(EACH_MESSAGE)
#define TO_OTHERS \
    ONE_BY_ONE, ORIGIN_MEASURES, .ranks.least = 2, .hooks.count_messages = count_others, .rma.pattern = root_to_others
#define AMONG_ALL ONE_BY_ONE, ALL_MEASURE, .ranks.least = 2, SENDS(EACH_MESSAGE), RECEIVES(EACH_MESSAGE)
#define WITH_NEIGHBOURS AMONG_ALL, .data.messages = 2, .rma.pattern = to_neighbours
#define WITH_ALL_OTHERS AMONG_ALL, .hooks.count_messages = count_others, .rma.pattern = to_all_others

#endif
