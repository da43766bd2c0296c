/* How samples of a case are taken. */
#ifndef RANKBENCH_SAMPLE_H
#define RANKBENCH_SAMPLE_H

#include "measurement.h"

/* Returns the first MPI error code of this rank, or MPI_SUCCESS. */
int measure(const struct timing *timing, struct measurement *into);
double median_ns(const struct timing *timing, const struct measurement *measurement);

#endif
