/* Talk between ranks that is the core's own: point-to-point only, so that no collective of the library under test is used. */
#ifndef RANKBENCH_TREE_H
#define RANKBENCH_TREE_H

#include "op.h"

typedef void merge_function(void *into, const void *from, int bytes);

/* Ends the whole job with one line when one of the core's own MPI calls fails. */
void must(int code, const char *call);

void tree_broadcast(const struct team *team, void *data, int bytes);
/* The same for ranks that had nothing to do: they sleep between looks, so as not to take a core from the others. */
void tree_broadcast_patient(const struct team *team, void *data, int bytes);
/* Merges every rank's data into rank 0's, in log2(ranks) steps. */
void tree_combine(const struct team *team, void *data, int bytes, merge_function *merge);
/* Collects `bytes` of every rank in rank order on rank 0. */
void tree_gather(const struct team *team, const void *mine, int bytes, void *all);

#endif
