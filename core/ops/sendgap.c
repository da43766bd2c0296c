/* How soon a rank can send again: sends in sequence without an answer. Before the next sequence, untimed, the receiver
 * confirms all messages, so that no backlog of an earlier one is timed. */
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/receipts.h"

enum { TAG = 1, TAG_ARRIVED = 2, SENDS_IN_A_ROW = 32 };

static int blocking(struct call *call) {
    const bool sends = call->peers.rank == call->peers.first;
    int code = MPI_SUCCESS;
    for (int i = 0; i < SENDS_IN_A_ROW && !code; i++)
        code = sends ? MPI_Send(call->buffers.send + (call->window.shifted ? i * RESEND_STEP : 0), call->message.count,
                                call->message.type, call->peers.second, TAG, call->peers.comm)
                     : MPI_Recv(call->buffers.receive, call->message.count, call->message.type, call->peers.first, TAG,
                                call->peers.comm, next_receipt(call));
    return code;
}

static int prepare(struct call *call) {
    return expect_receipts(call, call->message.type, (struct receipt){call->peers.first, TAG, call->message.count});
}

static int acknowledge(struct call *call) {
    if (call->peers.rank == call->peers.first)
        return MPI_Recv(NULL, 0, MPI_BYTE, call->peers.second, TAG_ARRIVED, call->peers.comm, MPI_STATUS_IGNORE);
    return MPI_Send(NULL, 0, MPI_BYTE, call->peers.first, TAG_ARRIVED, call->peers.comm);
}

static void fill(struct call *call) {
    fill_bytes(call->buffers.send, call->buffers.send_bytes, call->seed);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const long last = call->window.shifted ? (SENDS_IN_A_ROW - 1) * RESEND_STEP : 0;
    check_bytes_from(call->buffers.receive, last, call->buffers.receive_bytes, call->seed, 0, mismatch);
}

static const struct operation send_gap = {
    .name = "send-gap",
    .help = "time between MPI_Sends to another rank, of 32 in sequence without an answer (MPBench's latency)",
    .standard = "MPI-4.1 3.2",
    POINT_TO_POINT,
    .metric = METRIC_TIME,
    .amounts.root_send = {.base = 1},
    .amounts.receive = {.base = 1},
    .ranks.between_two = true,
    .timing.rank_0_measures = true,
    .data.resends = true,
    .timing.rounds = SENDS_IN_A_ROW,
    .timing.start = "none",
    .forms = {blocking},
    .hooks.prepare = prepare,
    .hooks.after = acknowledge,
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, send_gap);
