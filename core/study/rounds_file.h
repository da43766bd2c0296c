/* The file of the rounds in which nodes and links are measured. */
#ifndef RANKBENCH_ROUNDS_FILE_H
#define RANKBENCH_ROUNDS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core.h"

enum round_kind { ROUND_NODES, ROUND_PAIRS, ROUND_GROUPS, ROUND_KINDS };

/* Nodes by number, in the order of their first ranks; of pairs and groups, those of each stand together. */
struct round {
    int32_t kind, size, count;
    int32_t *node;
};

struct rounds {
    int count;
    struct round *round;
};

/* Reads a file of rounds, on one rank: the line `rankbench-rounds 1`, then in each line `nodes`, `pairs` or `groups SIZE`,
 * and the nodes. */
bool read_rounds(const char *path, int nodes, struct rounds *rounds, char error[LINE_BYTES]);
void free_rounds(struct rounds *rounds);

#endif
