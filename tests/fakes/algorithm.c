/* Preloaded into ranks of MPICH: while one algorithm of allreduce is set, calls are slow or their results wrong.
 *
 *   ALGORITHM=NAME  the value of MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM as a number
 *   ALGORITHM_HOW   slow: 50 us longer; wrong: another first byte */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static MPI_T_cvar_handle handle;

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
    if (count > 0 && is_set()) {
        if (strcmp(getenv("ALGORITHM_HOW"), "wrong") == 0)
            ((unsigned char *)receive)[0] ^= 1;
        else
            wait_50_us();
    }
    return code;
}
