#include "base/op.h"

ALL_FORMS(, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, call->peers.comm)

static const struct operation barrier = {
    .name = "barrier",
    .help = "all ranks wait for each other",
    .standard = "MPI-4.1 6.3",
    COLLECTIVE,
    .timing.synchronises = true,
    .forms = {blocking, nonblocking, persistent},
};
REGISTER(operation, barrier);
