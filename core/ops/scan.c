#include "base/op.h"
#include "kit/data.h"

ALL_FORMS(, MPI_Scan, MPI_Iscan, MPI_Scan_init, call->buffers.send, call->buffers.receive, call->message.count,
          call->message.type, call->message.reduction, call->peers.comm)

ALL_FORMS(_exclusive, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, call->buffers.send, call->buffers.receive, call->message.count,
          call->message.type, call->message.reduction, call->peers.comm)

static void check(const struct call *call, struct mismatch *mismatch) {
    check_reduced(call, call->buffers.receive, call->message.count, 0, 0, call->peers.rank, mismatch);
}

/* The result on rank 0 is undefined. */
static void check_exclusive(const struct call *call, struct mismatch *mismatch) {
    if (call->peers.rank > 0)
        check_reduced(call, call->buffers.receive, call->message.count, 0, 0, call->peers.rank - 1, mismatch);
}

#define SCAN \
    COLLECTIVE, SENDS({.base = 1}), RECEIVES({.base = 1}), .data.sized = true, .data.datatypes = NUMBERS, \
                                                           .data.in_place = IN_PLACE, .hooks.fill = fill_addends

static const struct operation scan = {
    .name = "scan",
    .help = "numbers of all ranks up to the own rank, reduced",
    .standard = "MPI-4.1 6.11.1",
    SCAN,
    .forms = {blocking, nonblocking, persistent},
    .hooks.check = check,
};

static const struct operation exscan = {
    .name = "exscan",
    .help = "numbers of all ranks before the own rank, reduced; rank 0 gets nothing",
    .standard = "MPI-4.1 6.11.2",
    SCAN,
    .forms = {blocking_exclusive, nonblocking_exclusive, persistent_exclusive},
    .hooks.check = check_exclusive,
};
REGISTER(operation, scan);
REGISTER(operation, exscan);
