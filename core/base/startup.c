#define _GNU_SOURCE
#include "base/startup.h"

#include <mpi.h>
#include <stdio.h>

#include "base/steady.h"
#include "base/tree.h"

int64_t startup_ns;
static int64_t bytes_before, bytes_after;
static int provided = MPI_THREAD_SINGLE;
static bool threads_wanted;

int64_t read_memory_bytes(void) {
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %ld kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (int64_t)kib * 1024;
}

void start_library(bool threads) {
    threads_wanted = threads;
    bytes_before = read_memory_bytes();
    const int64_t began_ns = read_steady_ns();
    if (threads)
        abort_on_error(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    else
        abort_on_error(MPI_Init(NULL, NULL), "MPI_Init");
    startup_ns = read_steady_ns() - began_ns;
    bytes_after = read_memory_bytes();
}

int64_t read_startup_bytes(void) {
    return bytes_after - bytes_before;
}

const char *why_no_threads(void) {
    if (provided == MPI_THREAD_MULTIPLE)
        return NULL;
    return threads_wanted ? "the library does not support MPI_THREAD_MULTIPLE"
                          : "threads may call the library only in a launch with --threads";
}
