/* Preloaded: a library that keeps a message until its rank calls MPI again, for the call named by KEEP_CALL, on the
 * ranks listed in KEEP_RANKS. This conforms to the MPI standard, which guarantees progress inside calls only; networks
 * do so for messages that must be repeated or do not fit. A kept message is a copy of its data: the call is complete for
 * the program when it returns. MPI_Win_complete keeps the end of the epoch, and so do its puts. */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rank.h"

enum { MOST_BYTES = 1 << 16, MOST_REQUESTS = 1 << 12 };

static struct {
    enum { NOTHING, SEND, BCAST, REDUCE, COMPLETE } what;
    char data[MOST_BYTES];
    int count, rank, tag;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Win window;
} kept;

static void release(void) {
    const int what = kept.what;
    kept.what = NOTHING;
    if (what == SEND)
        PMPI_Send(kept.data, kept.count, kept.type, kept.rank, kept.tag, kept.comm);
    else if (what == BCAST)
        PMPI_Bcast(kept.data, kept.count, kept.type, kept.rank, kept.comm);
    else if (what == REDUCE)
        PMPI_Reduce(kept.data, NULL, kept.count, kept.type, kept.op, kept.rank, kept.comm);
    else if (what == COMPLETE)
        PMPI_Win_complete(kept.window);
}

static bool is_chosen(const char *call) {
    static int chosen = -1;
    if (chosen < 0) {
        const int rank = read_launch_rank();
        chosen = 0;
        for (int i = 0; getenv("KEEP_RANKS") && find_entry(getenv("KEEP_RANKS"), i); i++)
            chosen |= atoi(find_entry(getenv("KEEP_RANKS"), i)) == rank;
    }
    return chosen && getenv("KEEP_CALL") && strcmp(getenv("KEEP_CALL"), call) == 0;
}

/* Copies a message without gaps; returns false if it is not to be kept. */
static bool keep(const char *call, const void *data, int count, MPI_Datatype type, int rank, MPI_Comm comm) {
    int bytes = 0;
    MPI_Aint least, extent;
    PMPI_Type_size(type, &bytes);
    PMPI_Type_get_extent(type, &least, &extent);
    if (!is_chosen(call) || extent != bytes || (long)bytes * count > MOST_BYTES || rank < 0)
        return false;
    if (count > 0)
        memcpy(kept.data, data, (size_t)bytes * (size_t)count);
    kept.count = count, kept.type = type, kept.rank = rank, kept.comm = comm;
    return true;
}

int MPI_Send(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
    release();
    if (!keep("MPI_Send", b, n, t, to, c))
        return PMPI_Send(b, n, t, to, tag, c);
    kept.what = SEND, kept.tag = tag;
    return MPI_SUCCESS;
}

/* A request that is complete: waiting for it gives no progress. */
int MPI_Isend(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *request) {
    release();
    if (!keep("MPI_Isend", b, n, t, to, c))
        return PMPI_Isend(b, n, t, to, tag, c, request);
    kept.what = SEND, kept.tag = tag;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* Keeps what it sends if it has received. */
int MPI_Sendrecv(const void *s, int m, MPI_Datatype u, int to, int out, void *b, int n, MPI_Datatype t, int from, int in,
                 MPI_Comm c, MPI_Status *status) {
    enum { TRIES = 100000 };
    release();
    if (!keep("MPI_Sendrecv", s, m, u, to, c))
        return PMPI_Sendrecv(s, m, u, to, out, b, n, t, from, in, c, status);
    MPI_Request request;
    int code = PMPI_Irecv(b, n, t, from, in, c, &request), flag = 0;
    for (int i = 0; i < TRIES && !flag && code == MPI_SUCCESS; i++)
        code = PMPI_Test(&request, &flag, status);
    kept.what = SEND, kept.tag = out;
    if (flag || code != MPI_SUCCESS)
        return code;
    release();
    return PMPI_Wait(&request, status);
}

static bool is_this_rank(int rank, MPI_Comm comm) {
    int local;
    PMPI_Comm_rank(comm, &local);
    return local == rank;
}

int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c) {
    release();
    if (!is_this_rank(root, c) || !keep("MPI_Bcast", b, n, t, root, c))
        return PMPI_Bcast(b, n, t, root, c);
    kept.what = BCAST;
    return MPI_SUCCESS;
}

int MPI_Reduce(const void *s, void *b, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c) {
    release();
    if (is_this_rank(root, c) || !keep("MPI_Reduce", s, n, t, root, c))
        return PMPI_Reduce(s, b, n, t, op, root, c);
    kept.what = REDUCE, kept.op = op;
    return MPI_SUCCESS;
}

/* The data of puts and accumulates must last until the end of the epoch. */
static const void *copy_for_epoch(const void *data, int count, MPI_Datatype type, MPI_Comm comm) {
    return keep("MPI_Win_complete", data, count, type, 0, comm) ? kept.data : data;
}

int MPI_Put(const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Win w) {
    release();
    return PMPI_Put(copy_for_epoch(b, n, t, MPI_COMM_NULL), n, t, to, at, m, u, w);
}

int MPI_Accumulate(const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Op op, MPI_Win w) {
    release();
    return PMPI_Accumulate(copy_for_epoch(b, n, t, MPI_COMM_NULL), n, t, to, at, m, u, op, w);
}

int MPI_Win_complete(MPI_Win w) {
    release();
    if (!is_chosen("MPI_Win_complete"))
        return PMPI_Win_complete(w);
    kept.what = COMPLETE, kept.window = w;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    if (*request != MPI_REQUEST_NULL)
        release();
    return PMPI_Wait(request, status);
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses) {
    bool complete = true;
    for (int i = 0; i < n; i++)
        complete &= requests[i] == MPI_REQUEST_NULL;
    if (!complete)
        release();
    return PMPI_Waitall(n, requests, statuses);
}

/* All other calls of the core that communicate. */
#define RELEASES(call, parameters, ...) \
    int MPI_##call parameters { \
        release(); \
        return PMPI_##call(__VA_ARGS__); \
    }
RELEASES(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s), b, n, t, from, tag, c, s)
RELEASES(Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r), b, n, t, from, tag, c, r)
RELEASES(Iprobe, (int from, int tag, MPI_Comm c, int *there, MPI_Status *s), from, tag, c, there, s)
RELEASES(Barrier, (MPI_Comm c), c)
RELEASES(Allreduce, (const void *s, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), s, b, n, t, o, c)
RELEASES(Comm_split, (MPI_Comm c, int colour, int key, MPI_Comm *new_comm), c, colour, key, new_comm)
RELEASES(Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info i, MPI_Comm *new_comm), c, type, key, i, new_comm)
RELEASES(Comm_free, (MPI_Comm * c), c)
RELEASES(Win_allocate, (MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, void *b, MPI_Win *w), n, unit, i, c, b, w)
RELEASES(Win_free, (MPI_Win * w), w)
RELEASES(Win_fence, (int hints, MPI_Win w), hints, w)
RELEASES(Win_lock, (int type, int rank, int hints, MPI_Win w), type, rank, hints, w)
RELEASES(Win_unlock, (int rank, MPI_Win w), rank, w)
RELEASES(Win_lock_all, (int hints, MPI_Win w), hints, w)
RELEASES(Win_unlock_all, (MPI_Win w), w)
RELEASES(Win_flush, (int rank, MPI_Win w), rank, w)
RELEASES(Win_post, (MPI_Group g, int hints, MPI_Win w), g, hints, w)
RELEASES(Win_start, (MPI_Group g, int hints, MPI_Win w), g, hints, w)
RELEASES(Win_wait, (MPI_Win w), w)
RELEASES(Finalize, (void))
