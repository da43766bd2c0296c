/* A library that stands between the core and MPI and makes one call slower by a known share of its time.
 *
 * SLOWER is the call and by how many percent: `allreduce 5`. With 0 the call is timed all the same, so that two launches
 * that differ in nothing but the number differ in nothing but the share. Preloaded into the core. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* The share that is added to a call, below 0 where it is left alone. */
static double share_of(const char *call) {
    const char *said = getenv("SLOWER");
    const size_t length = strlen(call);
    return said && strncmp(said, call, length) == 0 && said[length] == ' ' ? atof(said + length) / 100 : -1;
}

static void linger(double began_ns, double share) {
    const double ended_ns = now_ns(), until_ns = ended_ns + share * (ended_ns - began_ns);
    while (now_ns() < until_ns) {
    }
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    static double share = -2;
    if (share < -1)
        share = share_of("allreduce");
    if (share < 0)
        return PMPI_Allreduce(from, to, count, type, operation, comm);
    const double began_ns = now_ns();
    const int code = PMPI_Allreduce(from, to, count, type, operation, comm);
    linger(began_ns, share);
    return code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    static double share = -2;
    if (share < -1)
        share = share_of("bcast");
    if (share < 0)
        return PMPI_Bcast(data, count, type, root, comm);
    const double began_ns = now_ns();
    const int code = PMPI_Bcast(data, count, type, root, comm);
    linger(began_ns, share);
    return code;
}
