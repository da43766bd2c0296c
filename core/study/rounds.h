/* Speed of nodes and of links between them, in rounds: all nodes, pairs or groups of a round measure at the same time. */
#ifndef RANKBENCH_STUDY_ROUNDS_H
#define RANKBENCH_STUDY_ROUNDS_H

#include <stdio.h>

#include "sync/world.h"

/* Called by all ranks; rank 0 reads the file. Writes a record per round and quantity. Returns an exit code. */
int study_rounds(const struct world *world, const char *path, FILE *stream);

#endif
