/* What passes through the network devices of each node, by their counters: during a launch, or while known data pass between nodes. */
#ifndef RANKBENCH_NETWORK_H
#define RANKBENCH_NETWORK_H

#include <stdio.h>

#include "sync/world.h"

struct network;

/* Called by all ranks of the world, as are all functions here. Reads the counters below a folder as the kernel makes it; empty: /sys. */
struct network *open_network(const struct world *world, const char *sysfs);
/* The first rank of each node sends known data to that of the next node; what passes meanwhile is reported. Within one node nothing is
 * sent. */
void probe_network(struct network *network, const struct world *world);
/* Rank 0 writes a record for each node. */
void close_network(struct network *network, const struct world *world, FILE *stream);

#endif
