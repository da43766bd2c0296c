/* What is measured of a case, and what its timing needs to know: rounds, samples, and all of them together. */
#ifndef RANKBENCH_MEASUREMENT_H
#define RANKBENCH_MEASUREMENT_H

#include "base/op.h"
#include "kit/memory.h"
#include "kit/reference.h"
#include "request/request.h"
#include "sync/world.h"

enum { SERIES_ALL = -1 };
/* LATE: not every rank began when it should have. SKIPPED: a rank came after the moment of its window and took a later one, or
 * heard of the moment after it. */
enum round_state { ROUND_LATE = 1, ROUND_OVERRUN = 2, ROUND_FAILED = 4, ROUND_SKIPPED = 8 };

/* One round over all ranks, or of one of them. First and last are the earliest and the latest beginning on rank 0's clock. */
struct sample {
    double time_ns;
    /* When the round should have begun, as this rank has it: the same for all ranks that took the same window. */
    int64_t common_ns;
    int64_t first_ns;
    int64_t last_ns;
    /* How wrong offsets can be and likely are that both moments rest on: of the rank whose clock is known worst. */
    float bound_ns;
    float error_ns;
    /* How late the last rank was meant to come. */
    float delay_ns;
    int32_t last_rank;
    int32_t state;
};

/* One round as this rank saw it: when it should have begun on rank 0's clock, and when it began and ended on its own. */
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
    /* On every rank what it saw, on rank 0 also what all saw together. */
    struct moment *moments;
    struct sample *samples;
    int64_t sample_count;
    int64_t capacity;
    int64_t late;
    int64_t overrun;
    int64_t valid;
    int64_t synchronisations;
    int32_t repeats;
    /* The first and the last window; 0 where no start is scheduled. */
    int64_t first_window_ns, last_window_ns;
    /* What the pace was in the end: the estimate of a sample, and by how much a rank may begin late; 0: the start allows none. */
    double estimate_ns;
    int64_t tolerance_ns;
    enum stopped stopped;
};

struct setting;

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
    /* How often a run does what is timed. */
    int rounds;
    /* Ways of a message in a run, of which a sample is one: 2 where a round trip shows a latency. */
    int legs;
    /* How long one run took before anything was timed, where that is all that its time limit allows; else 0. */
    double long_ns;
    /* Whether this launch measured the same case before. */
    bool again;
    /* Whether this rank's times count. */
    bool measures;
    int64_t arrival, spread_ns;
    /* Whether beginnings are compared between ranks, for which their clocks must be. */
    bool compares;
    /* Between stages: new data in buffers that hold nothing else, and a look at what a stage brought; NULL: that shows nothing. */
    void (*renew_data)(const struct setting *setting);
    void (*inspect)(const struct setting *setting);
    /* Around one call: what was received before is overwritten, and what this rank has right afterwards is looked at. */
    void (*clear_received)(const struct setting *setting);
    void (*inspect_at_return)(const struct setting *setting);
    /* After each stage, of what this rank has right then; NULL: that shows nothing. */
    void (*inspect_stage)(const struct setting *setting);
    /* What each call brings again, where it is compared after every round: takes what is there as right, and says whether what
     * differs from it is wrong; NULL: it is not compared. The same on all ranks. */
    struct reference *reference;
    void (*keep_reference)(const struct setting *setting);
    void (*judge_difference)(const struct setting *setting);
    /* After each round, where a receive does not report what an earlier one did: whether that is right. */
    void (*judge_receipts)(const struct setting *setting);
    const struct setting *setting;
    double renewing_ns;
};

#endif
