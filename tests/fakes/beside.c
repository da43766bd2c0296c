/* Preloaded: allreduce takes longer by a share of its time while other ranks of the core are on this host, or only while
 * there are none.
 *
 *   BESIDE        together: longer beside other launches; alone: longer without   
 *   BESIDE_NS     how much longer, in nanoseconds */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_TEXT = 4096 };

static bool has_turns(void) {
    char words[MOST_TEXT];
    FILE *file = fopen("/proc/self/cmdline", "r");
    const size_t length = file ? fread(words, 1, sizeof words, file) : 0;
    if (file)
        fclose(file);
    return memmem(words, length, "--turns", 7) != NULL;
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op reduction, MPI_Comm comm) {
    static int longer = -1;
    struct timespec begun, now;
    const int code = PMPI_Allreduce(send, receive, count, type, reduction, comm);
    if (longer < 0)
        longer = has_turns() == (strcmp(getenv("BESIDE"), "together") == 0);
    if (!longer)
        return code;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000000L + now.tv_nsec - begun.tv_nsec < atol(getenv("BESIDE_NS")));
    return code;
}
