#include "op.h"

enum { TAG = 1 };

static int blocking(struct call *call) {
    const MPI_Datatype type = call->datatype->type;
    int code;
    if (call->rank == 0) {
        code = MPI_Send(call->send, call->count, type, 1, TAG, call->comm);
        return code ? code : MPI_Recv(call->receive, call->count, type, 1, TAG, call->comm, MPI_STATUS_IGNORE);
    }
    code = MPI_Recv(call->receive, call->count, type, 0, TAG, call->comm, MPI_STATUS_IGNORE);
    return code ? code : MPI_Send(call->send, call->count, type, 0, TAG, call->comm);
}

static void fill(struct call *call) {
    fill_bytes(call->send, call->send_bytes, call->seed + (unsigned)call->rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_bytes(call->receive, call->receive_bytes, call->seed + (unsigned)(1 - call->rank), 0, mismatch);
}

static const struct operation pingpong = {
    .name = "pingpong",
    .help = "half of one round trip between ranks 0 and 1",
    .standard = "MPI-4.1 3.2",
    .kind = "point-to-point",
    .metric = "latency",
    SENDS({.own = 1}),
    RECEIVES({.own = 1}),
    .sized = true,
    .ranks_exactly = 2,
    .rank_0_measures = true,
    .start = "none",
    .forms = {blocking},
    .fill = fill,
    .check = check,
};
REGISTER(operation, pingpong);
