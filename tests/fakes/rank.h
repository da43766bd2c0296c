/* Rank of a process in its launch, as its launcher reports it before MPI starts. */
#ifndef FAKES_RANK_H
#define FAKES_RANK_H

#include <stdlib.h>
#include <string.h>

/* Returns -1 if no launcher reports it. */
static int read_launch_rank(void) {
    const char *const variables[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return atoi(getenv(variables[i]));
    return -1;
}

/* Entry of a rank in a comma-separated list; NULL: there is none. */
static const char *find_entry(const char *list, int rank) {
    for (; list && rank > 0; rank--)
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    return rank < 0 ? NULL : list;
}

#endif
