#include "op.h"

static int blocking(struct call *call) {
    return MPI_Reduce(call->send, call->receive, call->count, call->datatype->type, MPI_SUM, ROOT, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ireduce(call->send, call->receive, call->count, call->datatype->type, MPI_SUM, ROOT, call->comm,
                       call->requests);
}

static int persistent(struct call *call) {
    return MPI_Reduce_init(call->send, call->receive, call->count, call->datatype->type, MPI_SUM, ROOT, call->comm,
                           MPI_INFO_NULL, call->requests);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->rank == ROOT)
        check_sums(call, mismatch);
}

static const struct operation reduce = {
    .name = "reduce",
    .help = "the sum over all ranks, delivered to rank 0",
    .standard = "MPI-4.1 6.9.1",
    COLLECTIVE,
    SENDS({.own = 1}),
    .root_receive = {.own = 1},
    .sized = true,
    .reduces = true,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill_addends,
    .check = check,
};
REGISTER(operation, reduce);
