/* One case, from its buffers to its samples. */
#ifndef RANKBENCH_CASE_H
#define RANKBENCH_CASE_H

#include "output/result.h"

/* Where rank 0 writes a case: if every rank's samples are wanted, those of one rank after the other. */
struct writer {
    bool writes;
    FILE *stream;
    int index;
};

/* Runs one case on every rank of the world; the result is complete on rank 0 only. `again`: this launch ran it before, and well. */
struct result run_case(const struct world *world, const struct request *writes, bool again, const struct writer *writer);

#endif
