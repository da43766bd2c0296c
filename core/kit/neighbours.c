/* Topologies and their neighbours, computed by the rules of the standard alone, to check what a library delivers.
 *
 *   blocks of a rank    | before, dimension 0 | after, dimension 0 | before, dimension 1 | after, dimension 1 | ...
 *
 * On a grid, what a rank sends to the rank before it arrives there as the block from the rank after it, even if both are
 * the same rank, or the rank itself (MPI-4.1 8.6.2). In a graph, the n-th edge from one rank to another ends at the n-th
 * edge that comes from it. */
#include "kit/neighbours.h"

#include "base/choices.h"
#include "kit/data.h"

enum { CARTESIAN, DISTRIBUTED };
enum { PERIODIC, BORDERED };

const struct choice graph_choice = {
    .name = "graph",
    .help = "how neighbours are defined: by MPI_Cart_create or by MPI_Dist_graph_create_adjacent",
    NAMES_OF("cartesian", "distributed"),
};

const struct choice dimensions_choice = {
    .name = "dimensions",
    .help = "dimensions of the grid of all ranks, with the extents of MPI_Dims_create",
    .least = 1,
    .most = MOST_DIMENSIONS,
    .usual = 2,
};

const struct choice grid_choice = {
    .name = "grid",
    .help = "extents of a grid of the first ranks, such as 4x4; auto: all ranks, by dimensions",
    .extents = true,
};

const struct choice periodic_choice = {
    .name = "periodic",
    .help = "whether ranks at opposite borders of the grid are neighbours",
    NAMES_OF("yes", "no"),
};

/* --- the grid --- */

static int unpack_extents(int64_t grid, int extents[MOST_DIMENSIONS]) {
    int dimensions = 0;
    for (; grid; grid >>= EXTENT_BITS)
        extents[dimensions++] = (int)(grid & MOST_EXTENT);
    return dimensions;
}

static int count_dimensions(const struct call *call) {
    int extents[MOST_DIMENSIONS];
    const int extents_count = unpack_extents(read_choice(call, &grid_choice), extents);
    return extents_count > 0 ? extents_count : (int)read_choice(call, &dimensions_choice);
}

/* INT32_MAX if the number does not fit. */
int count_grid_ranks(const struct call *call) {
    int extents[MOST_DIMENSIONS];
    const int dimensions = unpack_extents(read_choice(call, &grid_choice), extents);
    int64_t ranks = dimensions > 0;
    for (int dimension = 0; dimension < dimensions && ranks < INT32_MAX; dimension++)
        ranks *= extents[dimension];
    return ranks < INT32_MAX ? (int)ranks : INT32_MAX;
}

/* Grids of operations without the choice `periodic` are periodic. */
int choose_grid(const struct call *call, struct grid *grid) {
    struct layout *layout = &grid->layout;
    for (int dimension = 0; dimension < MOST_DIMENSIONS; dimension++)
        grid->periods[dimension] = read_choice(call, &periodic_choice) == PERIODIC;
    layout->ranks = call->peers.ranks;
    layout->dimensions = count_dimensions(call);
    if (unpack_extents(read_choice(call, &grid_choice), layout->extents) > 0)
        return MPI_SUCCESS;
    return MPI_Dims_create(layout->ranks, layout->dimensions, layout->extents);
}

int find_stride(const struct layout *layout, int dimension) {
    int stride = 1;
    for (int faster = dimension + 1; faster < layout->dimensions; faster++)
        stride *= layout->extents[faster];
    return stride;
}

static int find_neighbour(const struct grid *grid, int rank, int direction) {
    const int dimension = direction / 2, extent = grid->layout.extents[dimension];
    const int stride = find_stride(&grid->layout, dimension);
    const int from = rank / stride % extent, to = direction % 2 ? from + 1 : from - 1;
    if (!grid->periods[dimension] && (to < 0 || to >= extent))
        return MPI_PROC_NULL;
    return rank + ((to + extent) % extent - from) * stride;
}

struct neighbours list_neighbours(const struct grid *grid, int rank) {
    struct neighbours result = {0};
    for (int direction = 0; direction < 2 * grid->layout.dimensions; direction++) {
        const int other = find_neighbour(grid, rank, direction);
        if (other != MPI_PROC_NULL || grid->gaps)
            result.ranks[result.count++] = other;
    }
    return result;
}

/* Counts how often a rank is among the first `end` neighbours. */
static int count_occurrences(const struct neighbours *neighbours, int rank, int end) {
    int count = 0;
    for (int i = 0; i < end; i++)
        count += neighbours->ranks[i] == rank;
    return count;
}

static int find_occurrence(const struct neighbours *neighbours, int rank, int occurrence) {
    int place = 0;
    while (neighbours->ranks[place] != rank || count_occurrences(neighbours, rank, place) != occurrence)
        place++;
    return place;
}

struct origin find_origin(const struct grid *grid, int rank, int block) {
    const struct neighbours local = list_neighbours(grid, rank);
    const int from = block < local.count ? local.ranks[block] : MPI_PROC_NULL;
    if (from == MPI_PROC_NULL || grid->gaps)
        return (struct origin){from, block ^ 1};
    const struct neighbours theirs = list_neighbours(grid, from);
    return (struct origin){from, find_occurrence(&theirs, rank, count_occurrences(&local, from, block))};
}

/* --- the communicators --- */

int make_neighbourhood_state(struct call *call, bool gaps) {
    int code = make_new_comm_state(call, sizeof(struct neighbourhood));
    if (code)
        return code;
    struct neighbourhood *neighbourhood = get_neighbourhood(call);
    neighbourhood->grid.gaps = gaps;
    code = choose_grid(call, &neighbourhood->grid);
    call->layout = &neighbourhood->grid.layout;
    if (!code)
        neighbourhood->local = list_neighbours(&neighbourhood->grid, call->peers.rank);
    return code;
}

int make_cartesian(struct call *call) {
    const struct grid *grid = &get_neighbourhood(call)->grid;
    return MPI_Cart_create(call->peers.members, grid->layout.dimensions, grid->layout.extents, grid->periods, 0,
                           &get_new_comm(call)->comm);
}

/* Open MPI's MPI_UNWEIGHTED is a low address, for which gcc warns of an array of size 0 if it knows the value. */
int make_distributed(struct call *call) {
    const struct neighbours *local = &get_neighbourhood(call)->local;
    int *volatile weights = MPI_UNWEIGHTED;
    return MPI_Dist_graph_create_adjacent(call->peers.members, local->count, local->ranks, weights, local->count, local->ranks,
                                          weights, MPI_INFO_NULL, 0, &get_new_comm(call)->comm);
}

/* --- the operations --- */

int count_neighbours(const struct call *call) {
    return 2 * count_dimensions(call);
}

const char *refuse_neighbours(const struct call *call) {
    const int64_t last = (int64_t)call->message.count * (count_neighbours(call) - 1);
    if (last > INT32_MAX)
        return "the last neighbour's block begins beyond 2^31-1 elements";
    if (call->peers.ranks == 1 && read_choice(call, &periodic_choice) == BORDERED)
        return "a single rank has no neighbours; with periodic=yes it is its own";
    return NULL;
}

static int64_t count_edges(const struct grid *grid) {
    int64_t edges = 0;
    const int ranks = grid->layout.ranks;
    for (int i = 0; i < grid->layout.dimensions; i++)
        edges += 2 * (grid->periods[i] ? ranks : ranks - ranks / grid->layout.extents[i]);
    return edges;
}

static void place_blocks(struct call *call, struct neighbourhood *neighbourhood) {
    for (int i = 0; i < call->window.messages; i++) {
        neighbourhood->counts[i] = call->message.count;
        neighbourhood->places[i] = i * call->message.count;
        neighbourhood->offsets[i] = (MPI_Aint)(i * call->message.extent);
        neighbourhood->types[i] = call->message.type;
    }
    call->moved.messages = count_edges(&neighbourhood->grid);
    call->moved.bytes = call->moved.messages * call->message.bytes;
}

int prepare_neighbours(struct call *call) {
    const bool cartesian = read_choice(call, &graph_choice) == CARTESIAN;
    const int code = make_neighbourhood_state(call, cartesian);
    if (code)
        return code;
    place_blocks(call, get_neighbourhood(call));
    return cartesian ? make_cartesian(call) : make_distributed(call);
}

/* Blocks from beyond a border are not received. */
void check_neighbours(const struct call *call, stream_function *stream, struct mismatch *mismatch) {
    for (int block = 0; block < call->window.messages; block++) {
        const struct origin from = find_origin(&get_neighbourhood(call)->grid, call->peers.rank, block);
        const long at = block * call->message.bytes;
        if (from.rank != MPI_PROC_NULL)
            check_bytes(call->buffers.receive + at, call->message.bytes, stream(call, from), at, mismatch);
    }
}
