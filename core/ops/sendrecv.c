/* The chain of all ranks, closed to a ring: everyone sends to the right and receives from the left in one call. */
#include "kit/data.h"
#include "kit/modes.h"

enum { TAG = 1 };

static int blocking(struct call *call) {
    return MPI_Sendrecv(call->send, call->count, call->type, right_of(call), TAG, call->receive, call->count, call->type,
                        left_of(call), TAG, call->comm, MPI_STATUS_IGNORE);
}

static int nonblocking(struct call *call) {
    return MPI_Isendrecv(call->send, call->count, call->type, right_of(call), TAG, call->receive, call->count, call->type,
                         left_of(call), TAG, call->comm, call->requests);
}

static int blocking_replace(struct call *call) {
    return MPI_Sendrecv_replace(call->receive, call->count, call->type, right_of(call), TAG, left_of(call), TAG, call->comm,
                                MPI_STATUS_IGNORE);
}

static int nonblocking_replace(struct call *call) {
    return MPI_Isendrecv_replace(call->receive, call->count, call->type, right_of(call), TAG, left_of(call), TAG, call->comm,
                                 call->requests);
}

static void fill(struct call *call) {
    fill_bytes(call->send, call->send_bytes, call->seed + (unsigned)call->rank);
}

/* What is replaced lies where it is received. From call to call it moves on around the ring. */
static void fill_both(struct call *call) {
    fill(call);
    fill_bytes(call->receive, call->receive_bytes, call->seed + (unsigned)call->rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_bytes(call->receive, call->receive_bytes, call->seed + (unsigned)left_of(call), 0, mismatch);
}

#define AROUND \
    POINT_TO_POINT, .standard = "MPI-4.1 3.10", .metric = "time", SENDS({.base = 1}), RECEIVES({.base = 1}), .ranks_least = 2, \
        .threads = true, .start = "window", .check = check

static const struct operation sendrecv = {
    .name = "sendrecv",
    .help = "every rank sends to the next and receives from the one before, around the ring of all ranks",
    AROUND,
    .forms = {blocking, nonblocking},
    .fill = fill,
};

static const struct operation sendrecv_replace = {
    .name = "sendrecv-replace",
    .help = "every rank sends to the next and receives in its place from the one before, around the ring of all ranks",
    AROUND,
    .accumulates = true,
    .forms = {blocking_replace, nonblocking_replace},
    .fill = fill_both,
};
REGISTER(operation, sendrecv);
REGISTER(operation, sendrecv_replace);
