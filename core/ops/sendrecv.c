/* The ring of all ranks: each sends to the right and receives from the left in one call. */
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/receipts.h"

enum { TAG = 1 };

static int blocking(struct call *call) {
    return MPI_Sendrecv(call->buffers.send, call->message.count, call->message.type, find_right(call), TAG, call->buffers.receive,
                        call->message.count, call->message.type, find_left(call), TAG, call->peers.comm, next_receipt(call));
}

static int nonblocking(struct call *call) {
    return MPI_Isendrecv(call->buffers.send, call->message.count, call->message.type, find_right(call), TAG,
                         call->buffers.receive, call->message.count, call->message.type, find_left(call), TAG, call->peers.comm,
                         call->window.requests);
}

static int blocking_replace(struct call *call) {
    return MPI_Sendrecv_replace(call->buffers.receive, call->message.count, call->message.type, find_right(call), TAG,
                                find_left(call), TAG, call->peers.comm, next_receipt(call));
}

static int nonblocking_replace(struct call *call) {
    return MPI_Isendrecv_replace(call->buffers.receive, call->message.count, call->message.type, find_right(call), TAG,
                                 find_left(call), TAG, call->peers.comm, call->window.requests);
}

/* The status of MPI_Isendrecv is not agreed on: Open MPI 5.0 sets that of the receive, MPICH 5.0 none. */
static int prepare(struct call *call) {
    if (call->form != BLOCKING)
        return MPI_SUCCESS;
    return expect_receipts(call, call->message.type, (struct receipt){find_left(call), TAG, call->message.count});
}

/* The buffer that is replaced is the receive buffer. Its data move on around the ring with every call. */
static void fill_both(struct call *call) {
    fill_own(call);
    fill_bytes(call->buffers.receive, call->buffers.receive_bytes, call->seed + (unsigned)call->peers.rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_from(call, find_left(call), mismatch);
}

#define AROUND \
    POINT_TO_POINT, .standard = "MPI-4.1 3.10", .metric = METRIC_TIME, SENDS({.base = 1}), RECEIVES({.base = 1}), \
        .ranks.least = 2, .timing.threads = true, .timing.start = "window", .hooks.prepare = prepare, .hooks.check = check

static const struct operation sendrecv = {
    .name = "sendrecv",
    .help = "every rank sends to the next and receives from the one before, around the ring of all ranks",
    AROUND,
    .forms = {blocking, nonblocking},
    .hooks.fill = fill_own,
};

static const struct operation sendrecv_replace = {
    .name = "sendrecv-replace",
    .help = "every rank sends to the next and receives in its place from the one before, around the ring of all ranks",
    AROUND,
    .data.accumulates = true,
    .forms = {blocking_replace, nonblocking_replace},
    .hooks.fill = fill_both,
};
REGISTER(operation, sendrecv);
REGISTER(operation, sendrecv_replace);
