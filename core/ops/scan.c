#include "base/op.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Scan(call->send, call->receive, call->count, call->type, call->reduction, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iscan(call->send, call->receive, call->count, call->type, call->reduction, call->comm, call->requests);
}

static int persistent(struct call *call) {
    return MPI_Scan_init(call->send, call->receive, call->count, call->type, call->reduction, call->comm, MPI_INFO_NULL,
                         call->requests);
}

static int blocking_exclusive(struct call *call) {
    return MPI_Exscan(call->send, call->receive, call->count, call->type, call->reduction, call->comm);
}

static int nonblocking_exclusive(struct call *call) {
    return MPI_Iexscan(call->send, call->receive, call->count, call->type, call->reduction, call->comm, call->requests);
}

static int persistent_exclusive(struct call *call) {
    return MPI_Exscan_init(call->send, call->receive, call->count, call->type, call->reduction, call->comm, MPI_INFO_NULL,
                           call->requests);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_reduced(call, call->receive, call->count, 0, 0, call->rank, mismatch);
}

/* What rank 0 receives is undefined. */
static void check_exclusive(const struct call *call, struct mismatch *mismatch) {
    if (call->rank > 0)
        check_reduced(call, call->receive, call->count, 0, 0, call->rank - 1, mismatch);
}

#define SCAN \
    COLLECTIVE, SENDS({.base = 1}), RECEIVES({.base = 1}), .sized = true, .datatypes = NUMBERS, .in_place = IN_PLACE, \
        .fill = fill_addends

static const struct operation scan = {
    .name = "scan",
    .help = "the numbers of all ranks up to the own, reduced",
    .standard = "MPI-4.1 6.11.1",
    SCAN,
    .forms = {blocking, nonblocking, persistent},
    .check = check,
};

static const struct operation exscan = {
    .name = "exscan",
    .help = "the numbers of all ranks before the own, reduced; rank 0 gets nothing",
    .standard = "MPI-4.1 6.11.2",
    SCAN,
    .forms = {blocking_exclusive, nonblocking_exclusive, persistent_exclusive},
    .check = check_exclusive,
};
REGISTER(operation, scan);
REGISTER(operation, exscan);
