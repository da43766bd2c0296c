/* A library that stands between the core and MPI and flips one byte of a result, to see whether the data checks notice.
 *
 * FLIP names the call whose result is spoilt, FLIP_AFTER how many of its results are left alone first. Results of
 * nonblocking and persistent calls are spoilt when they are waited for. Preloaded into the core by the test. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static long left_alone = -1;
static unsigned char *pending;
static long pending_bytes;

static int chosen(const char *call) {
    const char *wanted = getenv("FLIP");
    return wanted && strcmp(wanted, call) == 0;
}

static void spoil(void *data, long bytes) {
    if (left_alone < 0)
        left_alone = getenv("FLIP_AFTER") ? atol(getenv("FLIP_AFTER")) : 0;
    if (data && bytes > 0 && left_alone-- <= 0) {
        left_alone = 0;
        ((unsigned char *)data)[bytes - 1] ^= 1;
    }
}

static long size_of(int count, MPI_Datatype type) {
    int bytes;
    PMPI_Type_size(type, &bytes);
    return (long)count * bytes;
}

static int ranks_of(MPI_Comm comm) {
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

static int rank_of(MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int later(const char *call, int code, void *data, long bytes) {
    if (chosen(call)) {
        pending = data;
        pending_bytes = bytes;
    }
    return code;
}

static int now(const char *call, int code, void *data, long bytes) {
    if (chosen(call))
        spoil(data, bytes);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    const int code = PMPI_Wait(request, status);
    spoil(pending, pending_bytes);
    return code;
}

int MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s) {
    const int code = PMPI_Recv(b, n, t, from, tag, c, s);
    return c == MPI_COMM_WORLD ? now("MPI_Recv", code, b, size_of(n, t)) : code;
}
int MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r) {
    return later("MPI_Irecv", PMPI_Irecv(b, n, t, from, tag, c, r), b, size_of(n, t));
}
int MPI_Waitall(int n, MPI_Request *r, MPI_Status *s) {
    const int code = PMPI_Waitall(n, r, s);
    spoil(pending, pending_bytes);
    return code;
}

/* Each collective in three forms; `data` and `bytes` say where its result lies. */
#define FORMS(Name, name, parameters, data, bytes, ...) \
    int MPI_##Name(parameters, MPI_Comm c) { return now("MPI_" #Name, PMPI_##Name(__VA_ARGS__, c), data, bytes); } \
    int MPI_I##name(parameters, MPI_Comm c, MPI_Request *r) { \
        return later("MPI_I" #name, PMPI_I##name(__VA_ARGS__, c, r), data, bytes); \
    } \
    int MPI_##Name##_init(parameters, MPI_Comm c, MPI_Info i, MPI_Request *r) { \
        return later("MPI_" #Name "_init", PMPI_##Name##_init(__VA_ARGS__, c, i, r), data, bytes); \
    }
#define COMMA ,
#define MOVED const void *s COMMA int n COMMA MPI_Datatype t COMMA void *b COMMA int m COMMA MPI_Datatype u
#define SUMMED const void *s COMMA void *b COMMA int n COMMA MPI_Datatype t COMMA MPI_Op o

FORMS(Allgather, allgather, MOVED, b, size_of(m, u) * ranks_of(c), s, n, t, b, m, u)
FORMS(Alltoall, alltoall, MOVED, b, size_of(m, u) * ranks_of(c), s, n, t, b, m, u)
FORMS(Allreduce, allreduce, SUMMED, b, size_of(n, t), s, b, n, t, o)
FORMS(Reduce, reduce, SUMMED COMMA int root, rank_of(c) == root ? b : NULL, size_of(n, t), s, b, n, t, o, root)
FORMS(Bcast, bcast, void *b COMMA int n COMMA MPI_Datatype t COMMA int root, rank_of(c) == root ? NULL : b, size_of(n, t), b, n,
      t, root)
