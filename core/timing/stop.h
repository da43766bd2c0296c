/* Stopping rules of a case. */
#ifndef RANKBENCH_STOP_H
#define RANKBENCH_STOP_H

#include "timing/measurement.h"

struct stopping {
    int64_t count;
    double mean, squares;
    int64_t next_look;
};

/* The times of valid samples in order, and their number; the caller frees them. */
double *sort_valid_times(const struct start *start, const struct measurement *measurement, int64_t *count);
int64_t count_most_tries(const struct stop *stop);
/* Valid samples that a case needs after `timed_ns`. */
int64_t count_needed_samples(const struct stop *stop, double timed_ns);
void add_to_stopping(struct stopping *stopping, const struct sample *sample);
/* `step_ns`: least difference of two unequal samples. */
enum stopped find_stop(struct stopping *stopping, const struct stop *stop, const struct start *start,
                       const struct measurement *so_far, double timed_ns, double step_ns);

#endif
