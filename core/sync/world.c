/* The ranks, which of them share hosts, caches and CPUs, and their clocks. */

#include "sync/world.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "sync/clock.h"

static MPI_Comm split_world(bool in) {
    MPI_Comm comm = MPI_COMM_NULL;
    abort_on_error(MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, 0, &comm), "MPI_Comm_split");
    return comm;
}

/* The first ranks. The core has its own communicator; operations use MPI_COMM_WORLD, as most programs do: some
 * libraries find a predefined communicator faster, by several nanoseconds per call. */
static struct team make_team(int ranks) {
    int rank, all;
    abort_on_error(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    abort_on_error(MPI_Comm_size(MPI_COMM_WORLD, &all), "MPI_Comm_size");
    const bool in = rank < ranks, is_whole = ranks >= all;
    const MPI_Comm talk = split_world(in), members = is_whole ? MPI_COMM_WORLD : split_world(in);
    return in ? (struct team){.comm = talk,
                              .calls = MPI_COMM_WORLD,
                              .members = members,
                              .rank = rank,
                              .ranks = is_whole ? all : ranks}
              : (struct team){.rank = rank};
}

struct world make_world(void) {
    struct world world = {.all = make_team(INT_MAX)};
    const int pairs = world.all.ranks / 2 * 2;
    world.pair = world.all.ranks == 2 ? world.all : make_team(2);
    world.even = pairs == 2 ? world.pair : pairs == world.all.ranks ? world.all : make_team(pairs);
    return world;
}

static int count_cpus(const char *list) {
    int count = 0, first, last, used;
    for (; sscanf(list, "%d%n", &first, &used) == 1; list += strcspn(list, ","), list += *list == ',') {
        last = first;
        if (list[used] == '-')
            last = atoi(list + used + 1);
        count += last - first + 1;
    }
    return count;
}

/* The number of ranks with the same text. */
static int count_same(const struct team *team, const char *text) {
    struct clock *same_text = make_clock(team, text, 0);
    const int count = same_text->readers.ranks;
    free_clock(same_text);
    return count;
}

/* Host and text, with a hash in place of the text, which may be longer than an identity. */
static void identify(char identity[IDENTITY_BYTES], const char *host, const char *text) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    snprintf(identity, IDENTITY_BYTES, "%.90s %016" PRIx64, host, hash);
}

/* Ranks that share CPUs must yield while they wait for a window. */
void find_neighbours(struct world *world, const struct rank_fact *local, const struct launch_fact *launch) {
    char cpus[IDENTITY_BYTES], cache[IDENTITY_BYTES];
    identify(cache, local->host, launch->cache_sharers);
    world->ranks_on_cache = count_same(&world->all, cache);
    identify(cpus, local->host, local->cpus);
    world->hosts = make_clock(&world->all, local->host, 0);
    world->ranks_on_host = world->hosts->readers.ranks;
    world->yields = count_same(&world->all, cpus) > count_cpus(local->cpus);
}

void free_neighbours(struct world *world) {
    free_clock(world->hosts);
}

/* Ranks with the same clock use the same parameters of it. */
static void make_clocks(struct world *world, struct team *team, bool separate) {
    char identity[IDENTITY_BYTES];
    const struct source *source = world->source;
    const int64_t step_ns = find_source_fact(world->sources, source->name)->resolution_ns;
    read_identity(source->sharing, identity);
    team->clock = make_clock(team, identity, step_ns);
    tree_broadcast(&team->clock->readers, source->parameters, source->parameter_bytes);
    if (!separate)
        return;
    free_clock(team->clock);
    snprintf(identity, sizeof identity, "of rank %d", team->rank);
    team->clock = make_clock(team, identity, step_ns);
}

/* Calls `act` once per team; teams with the same ranks are one. */
static void for_each_team(struct world *world, void (*act)(struct world *, struct team *)) {
    act(world, &world->all);
    if (world->pair.comm != world->all.comm && world->pair.ranks > 0)
        act(world, &world->pair);
    else
        world->pair.clock = world->pair.ranks > 0 ? world->all.clock : NULL;
    if (world->even.ranks > 0 && world->even.comm != world->all.comm && world->even.comm != world->pair.comm)
        act(world, &world->even);
    else
        world->even.clock = world->even.ranks == 0                ? NULL
                            : world->even.comm == world->all.comm ? world->all.clock
                                                                  : world->pair.clock;
}

static void make_shared(struct world *world, struct team *team) {
    make_clocks(world, team, false);
}

static void make_separate(struct world *world, struct team *team) {
    make_clocks(world, team, true);
}

static void release_clock(struct world *world, struct team *team) {
    (void)world;
    free_clock(team->clock);
}

void use_source(struct world *world, const struct source *source, bool separate_clocks) {
    world->source = source;
    for_each_team(world, separate_clocks ? make_separate : make_shared);
}

void release_source(struct world *world) {
    for_each_team(world, release_clock);
}
