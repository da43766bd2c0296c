/* world.c: who is there, and which clock the ranks read. */
#ifndef RANKBENCH_WORLD_H
#define RANKBENCH_WORLD_H

#include "core.h"

struct world make_world(void);
/* Which ranks share a host, a cache and CPUs with this one; the same on all ranks of a group. */
void know_neighbours(struct world *world, const struct rank_fact *mine, const struct launch_fact *launch);
void take_source(struct world *world, const struct source *source, bool separate_clocks);
void leave_source(struct world *world);

#endif
