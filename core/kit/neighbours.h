/* Grids of ranks and their neighbours, shared by all operations on topologies. */
#ifndef RANKBENCH_NEIGHBOURS_H
#define RANKBENCH_NEIGHBOURS_H

#include "kit/new_comm.h"

enum { MOST_NEIGHBOURS = 2 * MOST_DIMENSIONS };

/* In row-major order: neighbours in the last dimension have consecutive ranks. */
struct grid {
    struct layout layout;
    int periods[MOST_DIMENSIONS];
    /* Whether missing neighbours are gaps in the list; the list of a distributed graph has none. */
    bool gaps;
};

/* The neighbours of a rank in the standard's order: per dimension the one before and the one after. */
struct neighbours {
    int count;
    int ranks[MOST_NEIGHBOURS];
};

/* Rank and block that a received block comes from; MPI_PROC_NULL: nothing is received. */
struct origin {
    int rank;
    int block;
};

/* Stored in `call->state` by operations on topologies. */
struct neighbourhood {
    struct new_comm new_comm;
    struct grid grid;
    struct neighbours local;
    /* All blocks have the same number of elements and are contiguous: places in elements, and in bytes. */
    int counts[MOST_NEIGHBOURS];
    int places[MOST_NEIGHBOURS];
    MPI_Aint offsets[MOST_NEIGHBOURS];
    MPI_Datatype types[MOST_NEIGHBOURS];
};

static inline struct neighbourhood *get_neighbourhood(const struct call *call) {
    return call->state;
}

extern const struct choice graph_choice, dimensions_choice, grid_choice, periodic_choice;

/* The requested grid, or that of MPI_Dims_create for all ranks. */
int choose_grid(const struct call *call, struct grid *grid);
/* Ranks of the requested grid; 0: all ranks. */
int count_grid_ranks(const struct call *call);
/* Difference in rank between neighbours in a dimension. */
int find_stride(const struct layout *layout, int dimension);

struct neighbours list_neighbours(const struct grid *grid, int rank);
struct origin find_origin(const struct grid *grid, int rank, int block);

/* Makes `call->state` without the communicator. */
int make_neighbourhood_state(struct call *call, bool gaps);
int make_cartesian(struct call *call);
int make_distributed(struct call *call);

int count_neighbours(const struct call *call);
const char *refuse_neighbours(const struct call *call);
int prepare_neighbours(struct call *call);
/* Checks every block that a neighbour sent; `stream` returns the stream of its data. */
typedef unsigned stream_function(const struct call *, struct origin);
void check_neighbours(const struct call *call, stream_function *stream, struct mismatch *mismatch);

#define NEIGHBOURHOOD \
    .kind = KIND_NEIGHBOURHOOD, .metric = METRIC_TIME, .timing.start = "window", .data.sized = true, \
    .hooks.count_messages = count_neighbours, CHOICES(&graph_choice, &dimensions_choice, &grid_choice, &periodic_choice), \
    .hooks.takes = count_grid_ranks, .hooks.refuse = refuse_neighbours, .hooks.prepare = prepare_neighbours, \
    .hooks.finish = finish_new_comm

#endif
