#include "base/op.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Reduce(call->send, call->receive, call->count, call->type, call->reduction, call->root, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ireduce(call->send, call->receive, call->count, call->type, call->reduction, call->root, call->comm,
                       call->requests);
}

static int persistent(struct call *call) {
    return MPI_Reduce_init(call->send, call->receive, call->count, call->type, call->reduction, call->root, call->comm,
                           MPI_INFO_NULL, call->requests);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->rank == call->root)
        check_sums(call, mismatch);
}

static const struct operation reduce = {
    .name = "reduce",
    .help = "every rank's numbers, reduced and delivered to the root",
    .standard = "MPI-4.1 6.9.1",
    COLLECTIVE,
    SENDS({.base = 1}),
    .root_receive = {.base = 1},
    .sized = true,
    .datatypes = NUMBERS,
    .rooted = true,
    .in_place = IN_PLACE,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill_addends,
    .check = check,
};
REGISTER(operation, reduce);
