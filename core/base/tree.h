/* Messages of the core itself: point-to-point only, so that no collective of the library under test is used. */
#ifndef RANKBENCH_TREE_H
#define RANKBENCH_TREE_H

#include "base/op.h"

typedef void merge_function(void *into, const void *from, int bytes);

/* Messages and bytes that this rank sent and received for the core itself. */
struct traffic {
    int64_t messages;
    int64_t bytes;
};

extern struct traffic traffic;

/* Gives the library progress. It may keep a message until its rank calls MPI again (MPI-4.1 2.9): a rank that waits for
 * others without MPI, by time or by memory, calls this. */
void give_progress(const struct team *team);

/* Ends the job with one line if an MPI call of the core itself has failed. */
void abort_on_error(int code, const char *call);

typedef void receive_function(const struct team *team, void *data, int bytes, int from, int tag);

void send_bytes(const struct team *team, const void *data, int bytes, int to, int tag);
void receive_bytes(const struct team *team, void *data, int bytes, int from, int tag);
/* The same for ranks that may wait for long: they sleep between probes and leave the core to other ranks. */
void receive_bytes_patiently(const struct team *team, void *data, int bytes, int from, int tag);

void tree_broadcast(const struct team *team, void *data, int bytes);
void tree_broadcast_patient(const struct team *team, void *data, int bytes);
/* Merges the data of all ranks on rank 0, in log2(ranks) steps. */
void tree_combine(const struct team *team, void *data, int bytes, merge_function *merge);
void tree_combine_patient(const struct team *team, void *data, int bytes, merge_function *merge);
/* The largest of each whole number of 64 bits, or of one of 32 bits. */
merge_function merge_largest, merge_largest_int;
/* Returns on every rank whether `local` is true on all of them. */
bool tree_agree(const struct team *team, bool local);
bool tree_agree_patient(const struct team *team, bool local);
typedef void rank_function(void *context, int rank, const void *data);
/* Calls `visit` on rank 0 with the data of every rank, in rank order. Data go up the tree, or, if they are large,
 * directly from one rank after the other. */
void gather_ranks(const struct team *team, const void *data, int bytes, rank_function *visit, void *context);
/* The same for records of which most bytes are those of the rank before, as of ranks of one node: they always go up the tree, as
 * what differs. `data` must not have bytes without a value. */
void gather_alike(const struct team *team, const void *data, int bytes, rank_function *visit, void *context);

void dissemination_barrier(const struct team *team);

#endif
