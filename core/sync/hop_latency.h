/* The time of a hop: how long a cache line takes from one rank of this node to the next, on the CPUs that they have now. */
#ifndef RANKBENCH_HOP_LATENCY_H
#define RANKBENCH_HOP_LATENCY_H

#include "sync/world.h"

struct hop_latency;

/* Called by all ranks of the world. NULL on all ranks of a host that has one rank only, or more than CPUs, or where memory cannot be
 * shared without MPI. */
struct hop_latency *open_hop_latency(const struct world *world);
void close_hop_latency(struct hop_latency *hop_latency);

/* Called by all ranks of the world. Returns on rank 0 how long handing a cache line from one rank to the next of its host takes, the
 * mean over hosts; 0: not known, since some rank had no CPU. */
double measure_hop_ns(struct hop_latency *hop_latency, const struct world *world);

#endif
