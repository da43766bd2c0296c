/* Talk between ranks that is the core's own: point-to-point only, so that no collective of the library under test is used. */
#ifndef RANKBENCH_TREE_H
#define RANKBENCH_TREE_H

#include "base/op.h"

typedef void merge_function(void *into, const void *from, int bytes);

/* What this rank has sent and received of the core's own talk. */
struct traffic {
    int64_t messages;
    int64_t bytes;
};

extern struct traffic traffic;

/* Ends the whole job with one line when one of the core's own MPI calls fails. */
void abort_on_error(int code, const char *call);

typedef void receive_function(const struct team *team, void *data, int bytes, int from, int tag);

void send_bytes(const struct team *team, const void *data, int bytes, int to, int tag);
void receive_bytes(const struct team *team, void *data, int bytes, int from, int tag);
/* The same for ranks that had nothing to do: they sleep between looks, so as not to take a core from the others. */
void receive_bytes_patiently(const struct team *team, void *data, int bytes, int from, int tag);

void tree_broadcast(const struct team *team, void *data, int bytes);
void tree_broadcast_patient(const struct team *team, void *data, int bytes);
/* Merges every rank's data into rank 0's, in log2(ranks) steps. */
void tree_combine(const struct team *team, void *data, int bytes, merge_function *merge);
void tree_combine_patient(const struct team *team, void *data, int bytes, merge_function *merge);
/* Returns on every rank whether it is so on all of them. */
bool tree_agree(const struct team *team, bool local);
bool tree_agree_patient(const struct team *team, bool local);
typedef void rank_function(void *context, int rank, const void *data);
/* Hands every rank's data to rank 0, which takes them in rank order: up the tree, or, where that would be much at once, one rank
 * after the other. */
void gather_ranks(const struct team *team, const void *data, int bytes, rank_function *visit, void *context);

void dissemination_barrier(const struct team *team);

#endif
