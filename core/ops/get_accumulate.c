#include "kit/data.h"
#include "kit/target.h"

static int get_accumulate(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    (void)request;
    return MPI_Get_accumulate(call->buffers.send, call->message.count, call->message.type, call->buffers.receive,
                              call->message.count, call->message.type, transfer->rank, transfer->place, call->message.count,
                              call->message.type, call->message.reduction, window);
}

static int request_get_accumulate(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    return MPI_Rget_accumulate(call->buffers.send, call->message.count, call->message.type, call->buffers.receive,
                               call->message.count, call->message.type, transfer->rank, transfer->place, call->message.count,
                               call->message.type, call->message.reduction, window, request);
}

static int blocking(struct call *call) {
    return run_transfers(call, get_accumulate);
}

static int nonblocking(struct call *call) {
    return run_transfers(call, request_get_accumulate);
}

static int prepare(struct call *call) {
    const int code = make_target(call);
    call->moved.bytes *= 2;
    return code;
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_added(call, mismatch);
    if (call->peers.rank == call->peers.first)
        check_reduced(call, call->buffers.receive, call->message.count, 0, call->peers.second, call->peers.second, mismatch);
}

static const struct operation row = {
    .name = "get_accumulate",
    .help = "one rank adds data to another's memory and gets the old values, until complete at the target; "
            "nonblocking: by MPI_Rget_accumulate and MPI_Wait",
    ADDITION,
    .standard = "MPI-4.1 12.3.4",
    TO_SECOND,
    .amounts.root_send = {.base = 1},
    RECEIVES({.base = 1}),
    .forms = {blocking, nonblocking},
    .hooks.prepare = prepare,
    .hooks.after = complete_at_target,
    .hooks.check = check,
};
REGISTER(operation, row);
