/* Running one case. */
#ifndef RANKBENCH_CASE_H
#define RANKBENCH_CASE_H

#include "output/result.h"
#include "timing/pace.h"

/* Where rank 0 writes a case, and the series of single ranks if requested. */
struct writer {
    bool writes;
    FILE *stream;
    int index;
};

/* Runs one case on every rank of the world; the result is complete on rank 0 only. */
struct result run_case(const struct world *world, const struct request *writes, struct last_visit last,
                       const struct writer *writer);

#endif
