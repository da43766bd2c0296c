#include "base/op.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Allreduce(call->buffers.send, call->buffers.receive, call->message.count, call->message.type,
                         call->message.reduction, call->peers.comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iallreduce(call->buffers.send, call->buffers.receive, call->message.count, call->message.type,
                          call->message.reduction, call->peers.comm, call->window.requests);
}

static int persistent(struct call *call) {
    return MPI_Allreduce_init(call->buffers.send, call->buffers.receive, call->message.count, call->message.type,
                              call->message.reduction, call->peers.comm, MPI_INFO_NULL, call->window.requests);
}

static int blocking_large(struct call *call) {
    return MPI_Allreduce_c(call->buffers.send, call->buffers.receive, call->message.large_count, call->message.type,
                           call->message.reduction, call->peers.comm);
}

static int nonblocking_large(struct call *call) {
    return MPI_Iallreduce_c(call->buffers.send, call->buffers.receive, call->message.large_count, call->message.type,
                            call->message.reduction, call->peers.comm, call->window.requests);
}

static int persistent_large(struct call *call) {
    return MPI_Allreduce_init_c(call->buffers.send, call->buffers.receive, call->message.large_count, call->message.type,
                                call->message.reduction, call->peers.comm, MPI_INFO_NULL, call->window.requests);
}

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
