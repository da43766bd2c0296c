/* Study of sums: whether the bits of a reduction are the same on all ranks, from call to call, and with the ranks in the
 * reverse order. */
#ifndef RANKBENCH_SUMS_H
#define RANKBENCH_SUMS_H

#include "sync/world.h"

/* Called by all ranks; writes a record per operation, type and number of elements. Returns an exit code. */
int study_sums(const struct world *world, FILE *stream);

#endif
