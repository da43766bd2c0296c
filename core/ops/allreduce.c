#include "base/op.h"
#include "kit/data.h"

ALL_FORMS(, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, call->buffers.send, call->buffers.receive, call->message.count,
          call->message.type, call->message.reduction, call->peers.comm)

ALL_FORMS(_large, MPI_Allreduce_c, MPI_Iallreduce_c, MPI_Allreduce_init_c, call->buffers.send, call->buffers.receive,
          call->message.large_count, call->message.type, call->message.reduction, call->peers.comm)

#define ALLREDUCE \
    COLLECTIVE, SENDS({.base = 1}), RECEIVES({.base = 1}), .standard = "MPI-4.1 6.9.6", \
        .data.sized = true, .data.datatypes = NUMBERS, .data.in_place = IN_PLACE, .hooks.fill = fill_addends, \
        .hooks.check = check_sums

static const struct operation allreduce = {
    .name = "allreduce",
    .help = "numbers of all ranks, reduced on every rank",
    ALLREDUCE,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation allreduce_large = {
    .name = "allreduce-large",
    .help = "numbers of all ranks, reduced on every rank, with counts of type MPI_Count",
    ALLREDUCE,
    .data.large = true,
    .forms = {blocking_large, nonblocking_large, persistent_large},
};
REGISTER(operation, allreduce);
REGISTER(operation, allreduce_large);
