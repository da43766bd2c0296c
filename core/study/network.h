/* Counters of the network devices of each node: over a launch, or while known data are sent between nodes. */
#ifndef RANKBENCH_NETWORK_H
#define RANKBENCH_NETWORK_H

#include <stdio.h>

#include "sync/world.h"

struct network;

/* Called by all ranks of the world, as are all functions here. Reads the counters below `sysfs`; empty: /sys. */
struct network *open_network(const struct world *world, const char *sysfs);
/* The first rank of each node sends known data to that of the next node, and the counters of this time are reported.
 * Within a single node nothing is sent. */
void probe_network(struct network *network, const struct world *world);
/* Rank 0 writes a record per node. */
void close_network(struct network *network, const struct world *world, FILE *stream);

#endif
