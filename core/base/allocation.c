#include "base/allocation.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core.h"

static void end_without_memory(size_t bytes) {
    int begun = 0, over = 0, rank = 0;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    const int talks = begun && !over;
    if (talks)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "rankbench-core: rank %d: the system gave no memory (%zu bytes)\n", rank, bytes);
    if (talks)
        MPI_Abort(MPI_COMM_WORLD, EXIT_MPI);
    exit(EXIT_MPI);
}

/* malloc may return NULL for size 0. */
static size_t least(size_t bytes) {
    return bytes ? bytes : 1;
}

void *try_memory(size_t bytes) {
    return calloc(1, least(bytes));
}

void *try_aligned_memory(size_t alignment, size_t bytes) {
    return aligned_alloc(alignment, least(bytes));
}

void *obtain_memory(size_t bytes) {
    void *memory = try_memory(bytes);
    if (!memory)
        end_without_memory(bytes);
    return memory;
}

void *extend_memory(void *memory, size_t bytes) {
    void *more = realloc(memory, least(bytes));
    if (!more)
        end_without_memory(bytes);
    return more;
}
