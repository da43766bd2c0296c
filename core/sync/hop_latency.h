/* Time of a hop: how long a cache line takes from one rank of a node to the next, on their current CPUs. */
#ifndef RANKBENCH_HOP_LATENCY_H
#define RANKBENCH_HOP_LATENCY_H

#include "sync/world.h"

struct hop_latency;

/* Called by all ranks of the world. Returns NULL on all ranks of a host with a single rank, with more ranks than CPUs,
 * or without shared memory. */
struct hop_latency *open_hop_latency(const struct world *world);
void close_hop_latency(struct hop_latency *hop_latency);

/* Called by all ranks of the world. Returns the time per hop on rank 0, the mean over hosts; 0: unknown, since some
 * rank had no CPU. */
double measure_hop_ns(struct hop_latency *hop_latency, const struct world *world);

#endif
