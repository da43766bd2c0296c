/* What startup.c calls where calls are recorded, too; where they are not, these functions are absent. */
#pragma once
#include <mpi.h>
#include <stdbool.h>

struct started {
    int rank, ranks;
    bool threaded; /* MPI_THREAD_MULTIPLE */
    const char *library, *version;
};
__attribute__((weak)) void begin_calls(const char *path, const struct started *started);
__attribute__((weak)) void end_calls(bool finalised);

void *find_next(const char *name);
void *find_constant(const char *name);
