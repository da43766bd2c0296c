/* Rounds of a stage, and their samples. */
#ifndef RANKBENCH_ROUNDS_H
#define RANKBENCH_ROUNDS_H

#include "timing/measurement.h"
#include "timing/pace.h"

enum { MOST_ROUNDS = MOST_STAGE };

/* Instructions of rank 0 for the next stage; no rounds: end. */
struct stage_plan {
    int64_t first_ns;
    int64_t window_ns;
    int64_t slack_ns;
    int64_t tolerance_ns;
    int32_t lead;
    int32_t rounds;
    /* Ranks rest for `rest` windows after every `group` rounds. */
    int32_t group, rest;
    int32_t repeats;
    /* Ranks call MPI after each round. */
    int32_t calls_between;
    int32_t step;
    int32_t stopped;
    /* One more call after the rounds, not recorded, must deliver its data before it returns. */
    int32_t looks;
};

/* The next step: a stage, or what is done untimed between two. */
enum { STEP_STAGE, STEP_SYNCHRONISE, STEP_RENEW, STEP_LOOK };

static inline int first_error(int before, int now) {
    return before ? before : now;
}

/* Times a stage: keeps this rank's rounds, and merges the samples of all ranks on rank 0. Every rank has the same
 * number of rounds. Returns this rank's first error. */
int time_stage(const struct timing *timing, const struct start *start, const struct stage_plan *stage_plan,
               struct measurement *into, struct sample *samples);
/* One untimed call; returns its error. */
int run_untimed(const struct timing *timing);
/* Merges the samples of all ranks on rank 0; times count from the last arrival. */
void merge_samples_up(const struct timing *timing, struct sample *samples, int count);
/* Makes samples of this rank's rounds, with the clock offsets known at the end. */
void make_samples(const struct timing *timing, const struct measurement *measurement, int64_t from, int count,
                  struct sample *into);
/* Makes one sample of a value on every rank; the largest counts. */
void record_single(const struct timing *timing, struct measurement *into, double value);
/* Time of a run, from that of a sample, which is a part of it. */
double find_run_ns(const struct timing *timing, double time_ns);

#endif
