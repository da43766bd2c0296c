#include "verify/receives.h"

#include <stdio.h>

#include "base/core.h"
#include "base/steady.h"
#include "kit/data.h"
#include "verify/order.h"

/* Two messages, of which the second is sent first. */
enum { TAG = 20, MESSAGES = 2, MOST_BYTES = 1 << 16, SENT_LATE_NS = 20000 };

static unsigned char sent[MOST_BYTES], received[MESSAGES][MOST_BYTES];

/* The receives of a rank: `posted` of them were posted before any message was sent. */
struct receives {
    MPI_Comm comm;
    int other, bytes, posted;
    MPI_Request requests[MESSAGES];
};

/* Completes one or more receives; sets a bit of `completed` for each. Returns an MPI error code. */
typedef int completing(struct receives *receives, int *completed);

static int post(struct receives *receives, int which) {
    return MPI_Irecv(received[which], receives->bytes, MPI_BYTE, receives->other, TAG + which, receives->comm,
                     &receives->requests[which]);
}

static int test(struct receives *receives, int *completed) {
    int over = 0, code = MPI_SUCCESS;
    while (!over && !code)
        code = MPI_Test(&receives->requests[1], &over, MPI_STATUS_IGNORE);
    *completed = 1 << 1;
    return code;
}

static int wait_any(struct receives *receives, int *completed) {
    int which = 0;
    const int code = MPI_Waitany(MESSAGES, receives->requests, &which, MPI_STATUS_IGNORE);
    *completed = which >= 0 && which < MESSAGES ? 1 << which : 0;
    return code;
}

static int test_any(struct receives *receives, int *completed) {
    int which = 0, over = 0, code = MPI_SUCCESS;
    while (!over && !code)
        code = MPI_Testany(MESSAGES, receives->requests, &which, &over, MPI_STATUS_IGNORE);
    *completed = which >= 0 && which < MESSAGES ? 1 << which : 0;
    return code;
}

static int mark(int count, const int which[MESSAGES]) {
    int completed = 0;
    for (int i = 0; i < count && i < MESSAGES; i++)
        completed |= which[i] >= 0 && which[i] < MESSAGES ? 1 << which[i] : 0;
    return completed;
}

static int wait_some(struct receives *receives, int *completed) {
    int which[MESSAGES], count = 0;
    const int code = MPI_Waitsome(MESSAGES, receives->requests, &count, which, MPI_STATUSES_IGNORE);
    *completed = mark(count, which);
    return code;
}

static int test_some(struct receives *receives, int *completed) {
    int which[MESSAGES], count = 0, code = MPI_SUCCESS;
    while (count == 0 && !code)
        code = MPI_Testsome(MESSAGES, receives->requests, &count, which, MPI_STATUSES_IGNORE);
    *completed = mark(count, which);
    return code;
}

static int test_all(struct receives *receives, int *completed) {
    int over = 0, code = MPI_SUCCESS;
    while (!over && !code)
        code = MPI_Testall(MESSAGES, receives->requests, &over, MPI_STATUSES_IGNORE);
    *completed = (1 << MESSAGES) - 1;
    return code;
}

static int receive_probed(struct receives *receives, const MPI_Status *status, int *completed) {
    const int which = status->MPI_TAG - TAG;
    if (which < 0 || which >= MESSAGES)
        return MPI_ERR_TAG;
    *completed = 1 << which;
    return MPI_Recv(received[which], receives->bytes, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, receives->comm,
                    MPI_STATUS_IGNORE);
}

static int probe(struct receives *receives, int *completed) {
    MPI_Status status = {0};
    const int code = MPI_Probe(receives->other, MPI_ANY_TAG, receives->comm, &status);
    return code ? code : receive_probed(receives, &status, completed);
}

static int probe_at_once(struct receives *receives, int *completed) {
    MPI_Status status = {0};
    int arrived = 0, code = MPI_SUCCESS;
    while (!arrived && !code)
        code = MPI_Iprobe(receives->other, TAG + 1, receives->comm, &arrived, &status);
    return code ? code : receive_probed(receives, &status, completed);
}

static int match(struct receives *receives, int *completed) {
    MPI_Message message = MPI_MESSAGE_NULL;
    const int code = MPI_Mprobe(receives->other, TAG + 1, receives->comm, &message, MPI_STATUS_IGNORE);
    *completed = 1 << 1;
    return code ? code : MPI_Mrecv(received[1], receives->bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

static int match_at_once(struct receives *receives, int *completed) {
    MPI_Message message = MPI_MESSAGE_NULL;
    int arrived = 0, code = MPI_SUCCESS;
    while (!arrived && !code)
        code = MPI_Improbe(receives->other, TAG + 1, receives->comm, &arrived, &message, MPI_STATUS_IGNORE);
    *completed = 1 << 1;
    code = code ? code : MPI_Imrecv(received[1], receives->bytes, MPI_BYTE, &message, &receives->requests[1]);
    return code ? code : MPI_Wait(&receives->requests[1], MPI_STATUS_IGNORE);
}

static const struct way {
    const char *call;
    int posted;
    completing *complete;
} ways[] = {
    {"MPI_Test", MESSAGES, test},
    {"MPI_Waitany", MESSAGES, wait_any},
    {"MPI_Testany", MESSAGES, test_any},
    {"MPI_Waitsome", MESSAGES, wait_some},
    {"MPI_Testsome", MESSAGES, test_some},
    {"MPI_Testall", MESSAGES, test_all},
    {"MPI_Probe", 0, probe},
    {"MPI_Iprobe", 0, probe_at_once},
    {"MPI_Mprobe", 0, match},
    {"MPI_Improbe", 0, match_at_once},
};

static unsigned find_stream(int turn, int which) {
    return (unsigned)(MESSAGES * turn + which);
}

/* Nothing was sent when the receives begin. */
static void send(const struct setting *setting, const struct pair *pair, int turn) {
    const MPI_Comm comm = first_call(setting)->peers.comm;
    int code = MPI_SUCCESS;
    wait_for_announcement(setting, pair->other);
    for (int which = MESSAGES - 1; which >= 0; which--) {
        const int64_t until_ns = read_steady_ns() + SENT_LATE_NS;
        fill_bytes(sent, pair->bytes, find_stream(turn, which));
        while (read_steady_ns() < until_ns)
            ;
        code = code ? code : MPI_Send(sent, pair->bytes, MPI_BYTE, pair->other, TAG + which, comm);
    }
    note_code(setting->outcome, code, "MPI_Send");
}

static void check_done(const struct setting *setting, const struct pair *pair, int turn, int completed, const char *call) {
    struct mismatch mismatch = {0};
    for (int which = 0; which < MESSAGES; which++)
        if (completed >> which & 1)
            check_bytes(received[which], pair->bytes, find_stream(turn, which), 0, &mismatch);
    if (completed == 0)
        note(setting->outcome, WRONG_DATA, "rank %d: %s completed none of %d receives", setting->team->rank, call, MESSAGES);
    else if (mismatch.wrong_bytes > 0)
        note(setting->outcome, WRONG_DATA, "rank %d: a receive that %s reported as complete, or found, has %ld of %d bytes wrong",
             setting->team->rank, call, mismatch.wrong_bytes, pair->bytes);
}

/* Receives what is left, also if the library lacks the call. */
static int receive_rest(struct receives *receives, int completed) {
    int code = MPI_SUCCESS;
    for (int which = MESSAGES - 1; which >= 0 && !code; which--)
        if (!(completed >> which & 1))
            code = receives->posted ? MPI_Wait(&receives->requests[which], MPI_STATUS_IGNORE)
                                    : MPI_Recv(received[which], receives->bytes, MPI_BYTE, receives->other, TAG + which,
                                               receives->comm, MPI_STATUS_IGNORE);
    return code;
}

static void receive(const struct setting *setting, const struct pair *pair, int turn, const struct way *way) {
    struct receives receives = {
        first_call(setting)->peers.comm, pair->other, pair->bytes, way->posted, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    int completed = 0, code = MPI_SUCCESS;
    for (int which = 0; which < MESSAGES; which++)
        fill_bytes(received[which], pair->bytes, find_stream(turn, MESSAGES));
    for (int which = 0; which < way->posted && !code; which++)
        code = post(&receives, which);
    announce(setting, pair->other);
    code = code ? code : way->complete(&receives, &completed);
    const bool lacking = code == CALL_MISSING;
    if (!code)
        check_done(setting, pair, turn, completed, way->call);
    code = code && !lacking ? code : receive_rest(&receives, lacking ? 0 : completed);
    note_code(setting->outcome, code, way->call);
    if (!code && !lacking)
        check_done(setting, pair, turn, (1 << MESSAGES) - 1, way->call);
}

void check_receives(const struct setting *setting) {
    for (int turn = 0; turn < 2 * LENGTH(ways); turn++) {
        const struct pair pair = find_pair(setting, MOST_BYTES, turn % 2);
        if (setting->team->idle || pair.other == setting->team->rank || pair.bytes == 0)
            continue;
        if (pair.sends)
            send(setting, &pair, turn);
        else
            receive(setting, &pair, turn, &ways[turn / 2]);
    }
}
