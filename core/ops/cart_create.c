#include "kit/apart.h"
#include "kit/neighbours.h"

static int prepare(struct call *call) {
    return keep_neighbourhood(call, true);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_topology(call, MPI_CART, mismatch);
}

static const struct operation cart_create = {
    .name = "cart_create",
    .help = "a communicator on a periodic grid is made of all ranks; it is freed after it",
    .standard = "MPI-4.1 8.5.1",
    MAKES_COMMUNICATOR,
    CHOICES(&dimensions_choice, &grid_choice),
    .hooks.takes = ranks_of_grid,
    .forms = {make_cartesian},
    .hooks.prepare = prepare,
    .hooks.check = check,
};
REGISTER(operation, cart_create);
