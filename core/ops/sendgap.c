/* How soon a rank can send again: sends in sequence without an answer. Before the next sequence, untimed, the receiver
 * confirms all messages, so that no backlog of an earlier one is timed. */
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/receipts.h"

enum { TAG = 1, TAG_ARRIVED = 2, SENDS_IN_A_ROW = 32 };

static int blocking(struct call *call) {
    const bool sends = call->peers.rank == call->peers.first;
    const long step = shares_send_buffer(call) ? 0 : call->message.extent;
    int code = MPI_SUCCESS;
    for (int i = 0; i < SENDS_IN_A_ROW && !code; i++)
        code = sends ? MPI_Send(call->buffers.send + i * step, call->message.count, call->message.type, call->peers.second, TAG,
                                call->peers.comm)
                     : MPI_Recv(call->buffers.receive + i * step, call->message.count, call->message.type, call->peers.first, TAG,
                                call->peers.comm, next_receipt(call));
    return code;
}

/* A sample is the time of one message. */
static int prepare(struct call *call) {
    call->moved.messages = 1;
    call->moved.bytes = call->message.bytes;
    return expect_receipts(call, call->message.type, (struct receipt){call->peers.first, TAG, call->message.count});
}

static int acknowledge(struct call *call) {
    if (call->peers.rank == call->peers.first)
        return MPI_Recv(NULL, 0, MPI_BYTE, call->peers.second, TAG_ARRIVED, call->peers.comm, MPI_STATUS_IGNORE);
    return MPI_Send(NULL, 0, MPI_BYTE, call->peers.first, TAG_ARRIVED, call->peers.comm);
}

static unsigned find_stream(const struct call *call, int number) {
    return call->seed + (shares_send_buffer(call) ? 0 : (unsigned)number);
}

static void fill(struct call *call) {
    const int buffers = call->peers.rank != call->peers.first ? 0 : shares_send_buffer(call) ? 1 : SENDS_IN_A_ROW;
    for (int number = 0; number < buffers; number++)
        fill_bytes(call->buffers.send + number * call->message.bytes, call->message.bytes, find_stream(call, number));
}

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->peers.rank == call->peers.first)
        return;
    const int buffers = shares_send_buffer(call) ? 1 : SENDS_IN_A_ROW;
    for (int number = 0; number < buffers; number++)
        check_bytes(call->buffers.receive + number * call->message.bytes, call->message.bytes, find_stream(call, number),
                    number * call->message.bytes, mismatch);
}

static const struct operation send_gap = {
    .name = "send-gap",
    .help = "time between MPI_Sends to another rank, of 32 in sequence without an answer (MPBench's latency)",
    .standard = "MPI-4.1 3.2",
    POINT_TO_POINT,
    .metric = METRIC_TIME,
    FROM_ROOT({.base = SENDS_IN_A_ROW}),
    .ranks.between_two = true,
    .timing.rank_0_measures = true,
    .data.shares_buffer = shares_send_buffer,
    CHOICES(&send_buffers_choice),
    .timing.rounds = SENDS_IN_A_ROW,
    .timing.start = "none",
    .forms = {blocking},
    .hooks.prepare = prepare,
    .hooks.after = acknowledge,
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, send_gap);
