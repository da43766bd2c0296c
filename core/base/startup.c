#define _GNU_SOURCE
#include "base/startup.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "base/process.h"
#include "base/scan.h"
#include "base/steady.h"
#include "base/tree.h"

int64_t startup_ns;
static int64_t bytes_before, bytes_after;
static struct float_mode mode_before, mode_after;
static int provided = MPI_THREAD_SINGLE;
static bool threads_wanted;

int64_t read_memory_bytes(void) {
    long kib = 0;
    scan_file("/proc/self/smaps_rollup", "Pss: %ld kB", &kib);
    return (int64_t)kib * 1024;
}

void start_library(bool threads) {
    threads_wanted = threads;
    end_with_parent();
    bytes_before = read_memory_bytes();
    mode_before = read_float_mode();
    const int64_t began_ns = read_steady_ns();
    if (threads)
        abort_on_error(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    else
        abort_on_error(MPI_Init(NULL, NULL), "MPI_Init");
    startup_ns = read_steady_ns() - began_ns;
    mode_after = read_float_mode();
    bytes_after = read_memory_bytes();
}

int64_t read_startup_bytes(void) {
    return bytes_after - bytes_before;
}

void describe_startup_mode(char into[FLOAT_MODE_BYTES]) {
    const struct float_mode here = set_plain_mode(), plain = read_float_mode();
    set_float_mode(here);
    *into = '\0';
    if (is_same_mode(mode_after, plain))
        return;
    describe_mode(mode_after, into);
    const size_t length = strlen(into);
    snprintf(into + length, FLOAT_MODE_BYTES - length, "; since %s",
             is_same_mode(mode_before, mode_after) ? "the program was loaded" : "MPI_Init");
}

const char *why_no_threads(void) {
    if (provided == MPI_THREAD_MULTIPLE)
        return NULL;
    return threads_wanted ? "the library does not support MPI_THREAD_MULTIPLE"
                          : "MPI_THREAD_MULTIPLE needs a launch with --threads";
}
