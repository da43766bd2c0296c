/* The ranks, which of them share hosts, and their clocks. */
#ifndef RANKBENCH_WORLD_H
#define RANKBENCH_WORLD_H

#include "base/op.h"
#include "sync/facts.h"
#include "sync/source.h"

struct world {
    /* All ranks, the first two, and the largest even number of ranks. */
    struct team all, pair, even;
    const struct source *source;
    const struct synchronisation *synchronisation;
    const struct source_fact *sources;
    char why[REASON_BYTES];
    int64_t last_level_cache_bytes;
    bool yields;
    bool every_rank;
    /* Whether each call is timed singly, however short it is compared with a reading of the clock. */
    bool each_call;
    bool probes;
    /* Checks of remote completion without MPI; NULL: not available. */
    struct completion_check *completion_check;
    /* Hosts in place of clocks: `readers` are the ranks of this host, `clocks` the first rank of each host. */
    struct clock *hosts;
    int ranks_on_host;
    /* Ranks that share this rank's last-level cache. */
    int ranks_on_cache;
};

struct world make_world(void);
/* Finds which ranks share a host, a cache and CPUs with this one; the result is the same on all ranks of a group. */
void find_neighbours(struct world *world, const struct rank_fact *local, const struct launch_fact *launch);
void free_neighbours(struct world *world);
void use_source(struct world *world, const struct source *source, bool separate_clocks);
void release_source(struct world *world);

#endif
