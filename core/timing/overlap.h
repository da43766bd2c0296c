/* Computation during a call. */
#ifndef RANKBENCH_OVERLAP_H
#define RANKBENCH_OVERLAP_H

#include "base/op.h"

/* Work in steps of a loop, in `parts` parts with an MPI_Test after each but the last. */
struct work {
    long steps;
    int parts;
};

/* Steps that take this rank `time_ns`. */
long count_steps(double time_ns, int64_t (*read_ns)(void));
/* Runs of the loop: with and without the communication. */
int run_overlapped(struct call *call);
int run_computation(struct call *call);

#endif
