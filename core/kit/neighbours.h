/* Grids of ranks, and who is whose neighbour in them: what all operations on topologies share. */
#ifndef RANKBENCH_NEIGHBOURS_H
#define RANKBENCH_NEIGHBOURS_H

#include "kit/new_comm.h"

enum { MOST_NEIGHBOURS = 2 * MOST_DIMENSIONS };

/* Ranks in rows: of two places beside each other in the last dimension the ranks are successive. */
struct grid {
    struct layout layout;
    int periods[MOST_DIMENSIONS];
    /* Where a rank has no neighbour, there is a gap in its list; the list of a distributed graph has none. */
    bool gaps;
};

/* The neighbours of a rank in the standard's order: of each dimension the one before and the one behind. */
struct neighbours {
    int count;
    int ranks[MOST_NEIGHBOURS];
};

/* Which rank's which block arrives; of MPI_PROC_NULL nothing does. */
struct origin {
    int rank;
    int block;
};

/* What operations on topologies keep in `call->state`. */
struct neighbourhood {
    struct new_comm new_comm;
    struct grid grid;
    struct neighbours local;
    /* Every block has as many elements, and block i lies i blocks behind the first: in elements, and in bytes. */
    int counts[MOST_NEIGHBOURS];
    int places[MOST_NEIGHBOURS];
    MPI_Aint offsets[MOST_NEIGHBOURS];
    MPI_Datatype types[MOST_NEIGHBOURS];
};

static inline struct neighbourhood *neighbourhood_of(const struct call *call) {
    return call->state;
}

extern const struct choice graph_choice, dimensions_choice, grid_choice, periodic_choice;

/* The grid that was chosen, or the one that MPI_Dims_create makes of all ranks. */
int choose_grid(const struct call *call, struct grid *grid);
/* How many ranks the grid has that was chosen; 0: all there are. */
int count_grid_ranks(const struct call *call);
/* How many ranks are between two places beside each other in a dimension. */
int find_stride(const struct layout *layout, int dimension);

struct neighbours list_neighbours(const struct grid *grid, int rank);
struct origin find_origin(const struct grid *grid, int rank, int block);

/* Makes `call->state`, the communicator not yet. */
int make_neighbourhood_state(struct call *call, bool gaps);
int make_cartesian(struct call *call);
int make_distributed(struct call *call);

int count_neighbours(const struct call *call);
const char *refuse_neighbours(const struct call *call);
int prepare_neighbours(struct call *call);
/* Checks every block that a neighbour sent; `stream` says what is in it. */
typedef unsigned stream_function(const struct call *, struct origin);
void check_neighbours(const struct call *call, stream_function *stream, struct mismatch *mismatch);

#define NEIGHBOURHOOD \
    .kind = KIND_NEIGHBOURHOOD, .metric = METRIC_TIME, .timing.start = "window", .data.sized = true, \
    .hooks.count_messages = count_neighbours, CHOICES(&graph_choice, &dimensions_choice, &grid_choice, &periodic_choice), \
    .hooks.takes = count_grid_ranks, .hooks.refuses = refuse_neighbours, .hooks.prepare = prepare_neighbours, \
    .hooks.finish = finish_new_comm

#endif
