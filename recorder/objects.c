/* What is known of communicators, windows and types, by their handles, until the program frees them.
 *
 * Each table has buckets of eight places, which all are searched. */
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

enum { BUCKET = 8, GROUPS = 1024, TYPES = 1024, SETS = 256 };

struct type {
    uintptr_t handle;
    int64_t bytes;
    enum content content;
};

uint32_t epoch;
static struct group communicators[GROUPS], windows[GROUPS];
static struct type types[TYPES];
static struct {
    uint64_t members;
    uint32_t seen;
} sets[SETS];

/* Handles are small numbers or aligned addresses. */
static size_t find_bucket(uintptr_t handle, size_t places) {
    return (handle ^ handle >> 6 ^ handle >> 16) % (places / BUCKET) * BUCKET;
}

static struct group *find_group(struct group *table, uintptr_t handle, bool *is_new) {
    static struct group unknown;
    struct group *const bucket = &table[find_bucket(handle, GROUPS)], *place = 0;
    *is_new = false;
    for (int i = 0; i < BUCKET; i++) {
        if (bucket[i].handle == handle && bucket[i].ranks)
            return &bucket[i];
        if (!bucket[i].ranks && !place)
            place = &bucket[i];
    }
    *is_new = true;
    if (!place) {
        header->lost_communicators++;
        place = &unknown;
    }
    *place = (struct group){.handle = handle, .neighbours = -1, .is_kept = place != &unknown};
    return place;
}

static void forget_group(struct group *table, uintptr_t handle) {
    struct group *const bucket = &table[find_bucket(handle, GROUPS)];
    if (threaded)
        lock_tables();
    for (int i = 0; i < BUCKET; i++)
        if (bucket[i].handle == handle)
            bucket[i] = (struct group){0};
    epoch++;
    if (threaded)
        unlock_tables();
}

void forget_communicator(uintptr_t handle) {
    forget_group(communicators, handle);
}

void forget_window(uintptr_t handle) {
    forget_group(windows, handle);
}

struct group *find_communicator(MPI_Comm communicator) {
    bool is_new;
    int inter = 0;
    struct group *const group = find_group(communicators, (uintptr_t)communicator, &is_new);
    if (!is_new)
        return group;
    library.Comm_size(communicator, &group->ranks);
    library.Comm_rank(communicator, &group->rank);
    library.Comm_test_inter(communicator, &inter);
    group->inter = inter;
    return group;
}

struct group *find_window(MPI_Win window) {
    bool is_new;
    MPI_Group members;
    struct group *const group = find_group(windows, (uintptr_t)window, &is_new);
    if (is_new && library.Win_get_group(window, &members) == MPI_SUCCESS) {
        library.Group_size(members, &group->ranks);
        library.Group_rank(members, &group->rank);
        library.Group_free(&members);
    }
    return group;
}

/* A number for the members of a communicator, from their ranks in MPI_COMM_WORLD. */
static uint64_t hash_members(MPI_Comm communicator, int ranks) {
    MPI_Group members, world;
    uint64_t hash = (uint64_t)ranks;
    int *const from = malloc(2 * (size_t)ranks * sizeof(int)), *const to = from + ranks;
    if (!from)
        return 0;
    for (int i = 0; i < ranks; i++)
        from[i] = i;
    library.Comm_group(communicator, &members);
    library.Comm_group(library.world, &world);
    library.Group_translate_ranks(members, ranks, from, world, to);
    library.Group_free(&members);
    library.Group_free(&world);
    for (int i = 0; i < ranks; i++)
        hash = (hash ^ (uint64_t)to[i]) * 0x100000001b3u + (hash >> 47);
    free(from);
    return hash;
}

/* The number of a communicator, equal at its ranks without communication: its members, and how many communicators of the
 * same members were made, or first used, before. */
uint64_t identify(MPI_Comm communicator, struct group *group) {
    if (group->identity || group->is_anonymous || group->inter || group->ranks < 2)
        return group->identity;
    const uint64_t members = hash_members(communicator, group->ranks);
    for (int i = 0; i < SETS; i++)
        if (sets[i].members == members || sets[i].seen == 0) {
            sets[i].members = members;
            return group->identity = members * 31 + ++sets[i].seen;
        }
    header->lost_communicators++;
    group->is_anonymous = true;
    return 0;
}

/* All ranks number a communicator when it is made, which they do in one order; they may first use it in another one. */
void meet_communicator(MPI_Comm communicator) {
    if (communicator != library.no_communicator)
        identify(communicator, find_communicator(communicator));
}

/* How many partners a rank has in a collective; in a neighbourhood, how many it sends to. */
int count_partners(MPI_Comm communicator, struct group *group, bool neighbours) {
    int kind = MPI_UNDEFINED, count = 0, in = 0, weighted = 0;
    if (group->inter && library.Comm_remote_size(communicator, &count) == MPI_SUCCESS)
        return count;
    if (!neighbours)
        return group->ranks;
    if (group->neighbours >= 0)
        return group->neighbours;
    library.Topo_test(communicator, &kind);
    if (kind == MPI_CART && library.Cartdim_get(communicator, &count) == MPI_SUCCESS)
        count *= 2;
    else if (kind == MPI_GRAPH)
        library.Graph_neighbors_count(communicator, group->rank, &count);
    else if (kind == MPI_DIST_GRAPH)
        library.Dist_graph_neighbors_count(communicator, &in, &count, &weighted);
    return group->neighbours = count;
}

/* By name: constants of some libraries are variables, which a program that loads the library later does not have yet. */
static enum content find_content(MPI_Datatype type, bool has_gaps) {
    static const struct {
        const char *name;
        enum content content;
    } numbers[] = {{"MPI_FLOAT", FLOATS}, {"MPI_REAL", FLOATS},     {"MPI_DOUBLE", DOUBLES}, {"MPI_DOUBLE_PRECISION", DOUBLES},
                   {"MPI_INT", INTEGERS}, {"MPI_INTEGER", INTEGERS}};
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    if (has_gaps)
        return GAPS;
    library.Type_get_name(type, name, &length);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return numbers[i].content;
    return BYTES;
}

static struct type measure_type(MPI_Datatype type) {
    MPI_Count bytes = 0;
    MPI_Aint low = 0, extent = 0, true_low = 0, true_extent = 0;
    library.Type_size_x(type, &bytes);
    library.Type_get_extent(type, &low, &extent);
    library.Type_get_true_extent(type, &true_low, &true_extent);
    return (struct type){(uintptr_t)type, bytes, find_content(type, bytes != extent || bytes != true_extent)};
}

static struct type *find_type(MPI_Datatype type) {
    static struct type unknown;
    struct type *const bucket = &types[find_bucket((uintptr_t)type, TYPES)], *place = &unknown;
    for (int i = 0; i < BUCKET; i++) {
        if (bucket[i].handle == (uintptr_t)type && bucket[i].handle)
            return &bucket[i];
        if (!bucket[i].handle)
            place = &bucket[i];
    }
    *place = measure_type(type);
    return place;
}

void forget_type(uintptr_t handle) {
    struct type *const bucket = &types[find_bucket(handle, TYPES)];
    if (threaded)
        lock_tables();
    for (int i = 0; i < BUCKET; i++)
        if (bucket[i].handle == handle)
            bucket[i].handle = 0;
    epoch++;
    if (threaded)
        unlock_tables();
}

void add_data(struct call *call, int64_t count, MPI_Datatype type) {
    if (count <= 0)
        return;
    const struct type *const found = find_type(type);
    call->bytes += (uint64_t)(count * found->bytes);
    if (call->content != GAPS)
        call->content = found->content;
}
