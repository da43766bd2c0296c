/* How near to each other the CPUs are that the ranks of this node have now. */
#ifndef RANKBENCH_NEAR_H
#define RANKBENCH_NEAR_H

#include "sync/world.h"

struct near;

/* Called by all ranks of the world. NULL on all ranks of a host that has one rank only, or more than CPUs, or where memory cannot be
 * shared without MPI. */
struct near *open_near(const struct world *world, const char *host);
void close_near(struct near *near);

/* Called by all ranks of the world. Returns on rank 0 how long handing a cache line from one rank to the next of its host takes, the
 * mean over hosts; 0: not known, since some rank had no CPU. */
double near_ns(struct near *near, const struct world *world);

#endif
