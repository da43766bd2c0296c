/* Computation while a call is under way. */
#ifndef RANKBENCH_OVERLAP_H
#define RANKBENCH_OVERLAP_H

#include "base/op.h"

/* How much a rank computes, in steps of a loop, and in how many parts with an MPI_Test after each but the last. */
struct work {
    long steps;
    int parts;
};

/* Steps that take this rank so long. */
long count_steps(double time_ns, int64_t (*read_ns)(void));
/* Calls of the loop: with and without the communication. */
int run_overlapped(struct call *call);
int run_computation(struct call *call);

#endif
