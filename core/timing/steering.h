/* Taking the samples of a case. */
#ifndef RANKBENCH_STEERING_H
#define RANKBENCH_STEERING_H

#include "timing/measurement.h"

/* Returns the first MPI error code of this rank, or MPI_SUCCESS. */
int measure(const struct timing *timing, struct measurement *into);
double find_median_ns(const struct timing *timing, const struct measurement *measurement);

#endif
