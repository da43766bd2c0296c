#include "op.h"

static int blocking(struct call *call) {
    return MPI_Allreduce(call->send, call->receive, call->count, call->datatype->type, MPI_SUM, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iallreduce(call->send, call->receive, call->count, call->datatype->type, MPI_SUM, call->comm, call->requests);
}

static int persistent(struct call *call) {
    return MPI_Allreduce_init(call->send, call->receive, call->count, call->datatype->type, MPI_SUM, call->comm,
                              MPI_INFO_NULL, call->requests);
}

static const struct operation allreduce = {
    .name = "allreduce",
    .help = "the sum over all ranks, delivered to all",
    .standard = "MPI-4.1 6.9.6",
    COLLECTIVE,
    SENDS({.own = 1}),
    RECEIVES({.own = 1}),
    .sized = true,
    .in_place = IN_PLACE,
    .reduces = true,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill_addends,
    .check = check_sums,
};
REGISTER(operation, allreduce);
