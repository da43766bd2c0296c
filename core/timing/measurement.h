/* Rounds, samples and results of a case, and what its timing needs. */
#ifndef RANKBENCH_MEASUREMENT_H
#define RANKBENCH_MEASUREMENT_H

#include "base/op.h"
#include "kit/memory.h"
#include "kit/reference.h"
#include "request/request.h"
#include "sync/world.h"
#include "timing/pace.h"

enum { SERIES_ALL = -1 };
/* LATE: not all ranks began in time. SKIPPED: a rank missed its window and took a later one, or received the start time
 * after it. */
enum round_state { ROUND_LATE = 1, ROUND_OVERRUN = 2, ROUND_FAILED = 4, ROUND_SKIPPED = 8 };

/* One round, of all ranks or of one of them. First and last are the earliest and the latest start on rank 0's clock. */
struct sample {
    double time_ns;
    /* Planned start, as this rank has it: equal on all ranks that took the same window. */
    int64_t common_ns;
    int64_t first_ns;
    int64_t last_ns;
    /* Bound and estimated error of the offsets used, of the rank with the worst clock. */
    float bound_ns;
    float error_ns;
    /* Intended delay of the last rank. */
    float delay_ns;
    int32_t last_rank;
    int32_t state;
    /* Ranks that measured, and the sum of their times. */
    int32_t timed;
    float total_ns;
};

/* One round on this rank: planned start on rank 0's clock, actual start and end on its own. */
struct moment {
    int64_t common_ns;
    int64_t begin_ns;
    int64_t end_ns;
    float delay_ns;
    int32_t state;
};

static inline bool is_discarded(const struct start *start, const struct sample *sample) {
    return (sample->state & ROUND_LATE) || (start->discards_overruns && (sample->state & ROUND_OVERRUN));
}

enum stopped { STOPPED_NOT, STOPPED_SAMPLES, STOPPED_TRIES, STOPPED_RSE, STOPPED_INTERVAL, STOPPED_TIME };

struct measurement {
    /* `moments`: on every rank its own rounds. `samples`: on rank 0 those of all ranks. */
    struct moment *moments;
    struct sample *samples;
    int64_t sample_count;
    int64_t capacity;
    int64_t late;
    int64_t overrun;
    int64_t valid;
    int64_t synchronisations;
    int32_t repeats;
    /* The first and the last window; 0: the start is not scheduled. */
    int64_t first_window_ns, last_window_ns;
    /* Final pace: the estimated time of a sample, and the tolerance for late starts; 0: none. */
    double estimate_ns;
    int64_t tolerance_ns;
    /* Mean over ranks of the time of a call, over the time of the last rank: mean over the rounds that count; 0: none does. */
    double rank_share;
    /* Rounds at the beginning of stages that differed from later ones. */
    int32_t unsettled;
    enum stopped stopped;
};

/* What else happened to a rank while a case was warmed up and timed, the most of all ranks. */
struct strain {
    /* Time that it waited for a CPU, and the whole time; 0: unknown. */
    int64_t waited_ns, timed_ns;
    /* Bytes by which its own memory grew. */
    int64_t leaked_bytes;
};

struct setting;

/* What is checked while calls are timed; nothing of it is timed. */
struct checks {
    /* Before a round, or a single call with data for timing: changes the data, and overwrites a part of what was received,
     * or all. */
    void (*begin_round)(const struct setting *setting, bool clears);
    /* Stores the present data as reference; checks whether a difference from it is wrong; and statuses after a round with
     * an unknown one. */
    void (*keep_reference)(const struct setting *setting);
    void (*judge_difference)(const struct setting *setting);
    void (*judge_receipts)(const struct setting *setting);
    /* After a call on overwritten data: checks them. */
    void (*inspect_at_return)(const struct setting *setting);
    /* After each stage: checks the data of this rank, if there is time. */
    void (*inspect_stage)(const struct setting *setting);
    /* After each stage, on all ranks: checks again what calls promise beside their data, if there is time. */
    void (*check_promises)(const struct setting *setting);
    /* Between stages: whether data can be renewed, on rank 0; new data in the buffers; and the check of these data after a
     * stage that delivered them. */
    bool (*can_renew)(const struct setting *setting);
    void (*renew)(const struct setting *setting);
    void (*inspect_renewed)(const struct setting *setting);
};

struct timing {
    const struct team *team;
    const struct world *world;
    const struct operation *operation;
    const struct start *start;
    const struct stop *stop;
    const struct request *request;
    struct call *call;
    struct buffers *buffers;
    int (*run)(struct call *);
    /* Repetitions within a run. */
    int rounds;
    /* Messages in sequence per run: 2 where half of a round trip is reported. */
    int legs;
    /* Time of a run before timing, if it used up the time limit; else 0. */
    double long_ns;
    struct last_visit last;
    /* Whether this rank measures. */
    bool measures;
    int64_t arrival, spread_ns;
    /* Each rank computes so long before each round. */
    int64_t gap_ns;
    /* Whether starts are compared between ranks, which needs synchronised clocks. */
    bool compares;
    /* NULL: a run calls no library, and delivers nothing to check. */
    const struct checks *checks;
    /* Data that each call must deliver, compared after every round; NULL: not compared. Equal on all ranks. */
    struct reference *reference;
    const struct setting *setting;
    double renewing_ns;
};

#endif
