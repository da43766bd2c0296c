/* Which rank of its launch a process is, given by its launcher before MPI starts. */
#ifndef FAKES_RANK_H
#define FAKES_RANK_H

#include <stdlib.h>
#include <string.h>

/* Returns -1 where no launcher says. */
static int rank_of_launch(void) {
    const char *const variables[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return atoi(getenv(variables[i]));
    return -1;
}

/* The rank's entry of a list divided by commas; NULL where the list has none for it. */
static const char *entry_of(const char *list, int rank) {
    for (; list && rank > 0; rank--)
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    return rank < 0 ? NULL : list;
}

#endif
