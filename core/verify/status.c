#include "verify/status.h"

#include <stdio.h>

#include "kit/modes.h"
#include "kit/receipts.h"
#include "verify/evidence.h"

/* The receive has room for more than is sent, so that its own count would be wrong. */
enum { TAG = 10, MOST_BYTES = 1 << 16, MORE = 1 };

static unsigned char message[MOST_BYTES + MORE];

bool has_statuses(const struct setting *setting) {
    const struct operation *operation = setting->plan->operation;
    return operation->ranks.between_two && operation->kind == KIND_POINT_TO_POINT;
}

/* From any source, where only the status shows the sender. */
static int run_receive(const struct call *call, int room, MPI_Status *status) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (call->form == BLOCKING)
        return MPI_Recv(message, room, MPI_BYTE, MPI_ANY_SOURCE, TAG, call->peers.comm, status);
    if (call->form == NONBLOCKING) {
        const int code = MPI_Irecv(message, room, MPI_BYTE, MPI_ANY_SOURCE, TAG, call->peers.comm, &request);
        return code ? code : MPI_Wait(&request, status);
    }
    int code = MPI_Recv_init(message, room, MPI_BYTE, MPI_ANY_SOURCE, TAG, call->peers.comm, &request);
    code = code ? code : MPI_Start(&request);
    code = code ? code : MPI_Wait(&request, status);
    return code ? code : MPI_Request_free(&request);
}

static void note_wrong(const struct setting *setting, const char *what, int actual, int expected) {
    note(setting->outcome, WRONG_DATA, "rank %d: the status of a receive has %s %d, not %d", setting->team->rank, what, actual,
         expected);
}

static void compare_status(const struct setting *setting, const char *what, int actual, int expected) {
    if (actual != expected)
        note_wrong(setting, what, actual, expected);
}

void inspect_receipts(const struct setting *setting, struct worker *worker) {
    struct wrong_receipt wrong;
    struct receipts *receipts = worker->call.window.receipts;
    if (!receipts || are_receipts_right(receipts, &wrong))
        return;
    keep_evidence(worker);
    note_wrong(setting, wrong.what, wrong.actual, wrong.expected);
}

static void receive(const struct setting *setting, int other, int bytes) {
    MPI_Status status = {0};
    int count = 0;
    int code = run_receive(first_call(setting), bytes + MORE, &status);
    code = code ? code : MPI_Get_count(&status, MPI_BYTE, &count);
    note_code(setting->outcome, code, "a receive");
    if (code)
        return;
    compare_status(setting, "source", status.MPI_SOURCE, other);
    compare_status(setting, "tag", status.MPI_TAG, TAG);
    compare_status(setting, "count", count, bytes);
}

void check_statuses(const struct setting *setting) {
    const struct call *call = first_call(setting);
    const int other = setting->team->idle ? 0 : find_other(call);
    const int bytes = (int)(call->message.bytes < MOST_BYTES ? call->message.bytes : MOST_BYTES);
    for (int turn = 0; turn < 2 && !setting->team->idle; turn++)
        if ((call->peers.rank > other) == (turn == 0))
            note_code(setting->outcome, MPI_Send(message, bytes, MPI_BYTE, other, TAG, call->peers.comm), "MPI_Send");
        else
            receive(setting, other, bytes);
}
