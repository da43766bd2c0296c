#include "base/op.h"
#include "kit/data.h"

ALL_FORMS(, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, call->buffers.send, call->buffers.receive, call->message.count,
          call->message.type, call->message.reduction, call->peers.root, call->peers.comm)

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->peers.rank == call->peers.root)
        check_sums(call, mismatch);
}

static const struct operation reduce = {
    .name = "reduce",
    .help = "numbers of all ranks, reduced on the root",
    .standard = "MPI-4.1 6.9.1",
    COLLECTIVE,
    SENDS({.base = 1}),
    .amounts.root_receive = {.base = 1},
    .data.sized = true,
    .data.datatypes = NUMBERS,
    .ranks.rooted = true,
    .data.in_place = IN_PLACE,
    .forms = {blocking, nonblocking, persistent},
    .hooks.fill = fill_addends,
    .hooks.check = check,
};
REGISTER(operation, reduce);
