#include "base/op.h"

static int blocking(struct call *call) {
    return MPI_Barrier(call->peers.comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ibarrier(call->peers.comm, call->window.requests);
}

static int persistent(struct call *call) {
    return MPI_Barrier_init(call->peers.comm, MPI_INFO_NULL, call->window.requests);
}

static const struct operation barrier = {
    .name = "barrier",
    .help = "all ranks wait for each other",
    .standard = "MPI-4.1 6.3",
    COLLECTIVE,
    .timing.synchronises = true,
    .forms = {blocking, nonblocking, persistent},
};
REGISTER(operation, barrier);
