/* The rounds of a stage, and samples made of them. */
#ifndef RANKBENCH_ROUNDS_H
#define RANKBENCH_ROUNDS_H

#include "timing/measurement.h"
#include "timing/pace.h"

enum { MOST_LEAD = 4, MOST_ROUNDS = MOST_STAGE };

/* What rank 0 instructs the others to do next; no rounds: nothing. */
struct stage_plan {
    int64_t first_ns;
    int64_t window_ns;
    int64_t slack_ns;
    int64_t tolerance_ns;
    int32_t lead;
    int32_t rounds;
    /* After how many rounds ranks rest for how many windows. */
    int32_t group, rest;
    int32_t repeats;
    int32_t step;
    int32_t stopped;
    /* After the rounds one more call, which is not scored, must bring its data before it returns. */
    int32_t looks;
};

/* What is done next: a stage, or what must not be timed between two. */
enum { STEP_STAGE, STEP_SYNCHRONISE, STEP_RENEW, STEP_LOOK };

static inline int first_error(int before, int now) {
    return before ? before : now;
}

/* Keeps what this rank saw, and gets rank 0 what all saw together. Every rank keeps as many rounds. Returns this rank's first error. */
int time_stage(const struct timing *timing, const struct start *start, const struct stage_plan *stage_plan,
               struct measurement *into, struct sample *samples);
/* One call between stages. Returns its error. */
int run_untimed(const struct timing *timing);
/* On rank 0: what all ranks saw of rounds that each has made samples of; times count from the last rank's coming. */
void merge_samples_up(const struct timing *timing, struct sample *samples, int count);
/* Makes samples of what this rank saw, by what is known of its clock when all is over. */
void make_samples(const struct timing *timing, const struct measurement *measurement, int64_t from, int count,
                  struct sample *into);
/* Makes one sample of a value of every rank, the largest of which counts. */
void record_single(const struct timing *timing, struct measurement *into, double value);
/* What a run takes of which a sample is a part. */
double find_run_ns(const struct timing *timing, double time_ns);

#endif
