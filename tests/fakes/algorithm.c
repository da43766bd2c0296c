/* Preloaded into ranks of MPICH: while one algorithm of allreduce is set, calls are slow or their results wrong.
 *
 *   ALGORITHM=NAME  the value of MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM as a number
 *   ALGORITHM_HOW   slow: 50 us longer; wrong: another first byte; rare: another last byte in every 1,500th call */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RARELY = 1500 };
static MPI_T_cvar_handle handle;
static int calls;

static void find_cvar(void) {
    int provided, index, count;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_index("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", &index);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
}

static int is_set(void) {
    int value = -1;
    if (!handle)
        find_cvar();
    MPI_T_cvar_read(handle, &value);
    return value == atoi(getenv("ALGORITHM"));
}

static void wait_50_us(void) {
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < 50000);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op reduction, MPI_Comm comm) {
    const int code = PMPI_Allreduce(send, receive, count, type, reduction, comm);
    const char *const how = getenv("ALGORITHM_HOW");
    MPI_Aint least, extent;
    if (count == 0 || !is_set())
        return code;
    PMPI_Type_get_extent(type, &least, &extent);
    if (strcmp(how, "slow") == 0)
        wait_50_us();
    else if (strcmp(how, "wrong") == 0)
        ((unsigned char *)receive)[0] ^= 1;
    else if (++calls % RARELY == 0)
        ((unsigned char *)receive)[count * extent - 1] ^= 1;
    return code;
}
