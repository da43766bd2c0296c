#include "kit/neighbours.h"
#include "kit/separate_comm.h"

static int prepare(struct call *call) {
    return make_neighbourhood_state(call, false);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_topology(call, MPI_DIST_GRAPH, mismatch);
}

static const struct operation dist_graph_create_adjacent = {
    .name = "dist_graph_create_adjacent",
    .help = "creates a graph of all ranks with the neighbours of a periodic grid",
    .standard = "MPI-4.1 8.5.4",
    MAKES_COMMUNICATOR,
    CHOICES(&dimensions_choice),
    .forms = {make_distributed},
    .hooks.prepare = prepare,
    .hooks.check = check,
};
REGISTER(operation, dist_graph_create_adjacent);
