#include "kit/neighbours.h"
#include "kit/separate_comm.h"

static int prepare(struct call *call) {
    return make_neighbourhood_state(call, true);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_topology(call, MPI_CART, mismatch);
}

static const struct operation cart_create = {
    .name = "cart_create",
    .help = "creates a communicator of all ranks on a periodic grid",
    .standard = "MPI-4.1 8.5.1",
    MAKES_COMMUNICATOR,
    CHOICES(&dimensions_choice, &grid_choice),
    .hooks.takes = count_grid_ranks,
    .forms = {make_cartesian},
    .hooks.prepare = prepare,
    .hooks.check = check,
};
REGISTER(operation, cart_create);
