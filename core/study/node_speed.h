/* What a rank and its node are capable of by themselves: its core, memory, and neighbours on the node. */
#ifndef RANKBENCH_NODE_SPEED_H
#define RANKBENCH_NODE_SPEED_H

#include "sync/world.h"

/* All ranks of a node measure at the same time. 0: unknown, as without a neighbour. */
struct node_speed {
    /* Of one step of a chain of dependent multiplications and additions: the reciprocal of the clock rate. */
    double step_ns;
    /* Read and written by copying memory that no cache holds. */
    double copied_bytes_per_s;
    /* Half of a round trip between this rank and its neighbour: of a message of 8 bytes, and of a cache line. */
    double message_ns, line_ns;
};

/* Called by all ranks of a node. */
struct node_speed measure_node_speed(const struct world *world);

#endif
