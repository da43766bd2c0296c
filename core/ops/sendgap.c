/* How soon a rank can send again: sends in a row, none of which awaits an answer. Before the next row begins, and untimed, the
 * receiver says that all have arrived, so that what is timed never is an earlier row's backlog. */
#include "kit/data.h"
#include "kit/modes.h"

enum { TAG = 1, TAG_ARRIVED = 2, SENDS_IN_A_ROW = 32 };

static int blocking(struct call *call) {
    const bool sends = call->rank == call->first;
    int code = MPI_SUCCESS;
    for (int i = 0; i < SENDS_IN_A_ROW && !code; i++)
        code = sends ? MPI_Send(call->send + (call->apart ? i * RESEND_STEP : 0), call->count, call->type, call->second, TAG,
                                call->comm)
                     : MPI_Recv(call->receive, call->count, call->type, call->first, TAG, call->comm, MPI_STATUS_IGNORE);
    return code;
}

static int acknowledge(struct call *call) {
    if (call->rank == call->first)
        return MPI_Recv(NULL, 0, MPI_BYTE, call->second, TAG_ARRIVED, call->comm, MPI_STATUS_IGNORE);
    return MPI_Send(NULL, 0, MPI_BYTE, call->first, TAG_ARRIVED, call->comm);
}

static void fill(struct call *call) {
    fill_bytes(call->send, call->send_bytes, call->seed);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const long last = call->apart ? (SENDS_IN_A_ROW - 1) * RESEND_STEP : 0;
    check_bytes_from(call->receive, last, call->receive_bytes, call->seed, 0, mismatch);
}

static const struct operation send_gap = {
    .name = "send-gap",
    .help = "from one MPI_Send to another rank to the next, of 32 in a row whose answer nobody awaits (MPBench's latency)",
    .standard = "MPI-4.1 3.2",
    POINT_TO_POINT,
    .metric = "time",
    .root_send = {.base = 1},
    .receive = {.base = 1},
    .between_two = true,
    .rank_0_measures = true,
    .resends = true,
    .rounds = SENDS_IN_A_ROW,
    .start = "none",
    .forms = {blocking},
    .after = acknowledge,
    .fill = fill,
    .check = check,
};
REGISTER(operation, send_gap);
