#include "base/op.h"

static int blocking(struct call *call) {
    return MPI_Barrier(call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ibarrier(call->comm, call->requests);
}

static int persistent(struct call *call) {
    return MPI_Barrier_init(call->comm, MPI_INFO_NULL, call->requests);
}

static const struct operation barrier = {
    .name = "barrier",
    .help = "all ranks wait for each other",
    .standard = "MPI-4.1 6.3",
    COLLECTIVE,
    .synchronises = true,
    .forms = {blocking, nonblocking, persistent},
};
REGISTER(operation, barrier);
