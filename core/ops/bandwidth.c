#include "op.h"

enum { TAG = 1, TAG_ACKNOWLEDGE = 2, MESSAGES = 64 };

static int send_window(struct call *call) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < call->messages && !code; i++)
        code = MPI_Isend(call->send, call->count, call->datatype->type, 1, TAG, call->comm, &call->requests[i]);
    if (!code)
        code = MPI_Waitall(call->messages, call->requests, MPI_STATUSES_IGNORE);
    return code ? code : MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_ACKNOWLEDGE, call->comm, MPI_STATUS_IGNORE);
}

/* Every message has a place of its own: the standard forbids two receives under way into one buffer. */
static int receive_window(struct call *call) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < call->messages && !code; i++)
        code = MPI_Irecv(call->receive + i * call->bytes, call->count, call->datatype->type, 0, TAG, call->comm,
                         &call->requests[i]);
    if (!code)
        code = MPI_Waitall(call->messages, call->requests, MPI_STATUSES_IGNORE);
    return code ? code : MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ACKNOWLEDGE, call->comm);
}

static int window(struct call *call) {
    return call->rank == 0 ? send_window(call) : receive_window(call);
}

static void fill(struct call *call) {
    fill_bytes(call->send, call->send_bytes, call->seed);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->rank == 1)
        for (int i = 0; i < call->messages; i++)
            check_bytes(call->receive + i * call->bytes, call->bytes, call->seed, i * call->bytes, mismatch);
}

static const struct operation bandwidth = {
    .name = "bandwidth",
    .help = "a window of 64 messages from rank 0 to rank 1, until the last is acknowledged",
    .standard = "MPI-4.1 3.7",
    .kind = "point-to-point",
    .metric = "bandwidth",
    .receive = {.own = MESSAGES},
    .root_send = {.own = MESSAGES},
    .sized = true,
    .ranks_exactly = 2,
    .messages = MESSAGES,
    .resends = true,
    .rank_0_measures = true,
    .completes = true,
    .start = "none",
    .forms = {[NONBLOCKING] = window},
    .fill = fill,
    .check = check,
};
REGISTER(operation, bandwidth);
