#include "verify/synchronous.h"

#include <stdio.h>

#include "base/steady.h"
#include "base/tree.h"
#include "kit/modes.h"
#include "verify/order.h"

/* Longer messages use a rendezvous protocol in every mode. */
enum { TAG = 9, TAG_CAME = 7050, MOST_BYTES = 1 << 16 };
/* Several times each way: a first message may take longer than its receiver is late, since it sets up a connection. */
enum { TURNS = 6 };

static unsigned char message[MOST_BYTES];

struct pair {
    int other, bytes;
    bool sends;
};

bool sends_synchronously(const struct setting *setting) {
    return read_case_choice(setting, &mode_choice) == SYNCHRONOUS;
}

/* By the call of the case's form. */
static int run_send(const struct call *call, const struct pair *pair) {
    const struct mode *mode = &modes[SYNCHRONOUS];
    MPI_Request request = MPI_REQUEST_NULL;
    if (call->form == BLOCKING)
        return mode->send(message, pair->bytes, MPI_BYTE, pair->other, TAG, call->peers.comm);
    if (call->form == NONBLOCKING) {
        const int code = mode->isend(message, pair->bytes, MPI_BYTE, pair->other, TAG, call->peers.comm, &request);
        return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    int code = mode->send_init(message, pair->bytes, MPI_BYTE, pair->other, TAG, call->peers.comm, &request);
    code = code ? code : MPI_Start(&request);
    code = code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    return code ? code : MPI_Request_free(&request);
}

static void receive(const struct setting *setting, const struct pair *pair) {
    const struct call *call = first_call(setting);
    wait_for_announcement(setting, pair->other);
    const int64_t entered_ns = find_earliest_ns(setting, wait_late(setting));
    note_code(setting->outcome, MPI_Recv(message, pair->bytes, MPI_BYTE, pair->other, TAG, call->peers.comm, MPI_STATUS_IGNORE),
              "MPI_Recv");
    send_bytes(setting->team, &entered_ns, sizeof entered_ns, pair->other, TAG_CAME);
}

static void send(const struct setting *setting, const struct pair *pair) {
    const struct source *source = setting->world->source;
    const struct twin_reading before = read_both(source);
    char line[LINE_BYTES / 2];
    int64_t entered_ns;
    announce(setting, pair->other);
    note_code(setting->outcome, run_send(first_call(setting), pair), "a synchronous send");
    const int64_t ended_ns = find_latest_ns(setting, source->read_ns());
    receive_bytes(setting->team, &entered_ns, sizeof entered_ns, pair->other, TAG_CAME);
    if (measure_jump_ns(&before, source) != 0 || ended_ns >= entered_ns)
        return;
    snprintf(line, sizeof line, "rank %d: a synchronous send completed before rank %d began to receive", setting->team->rank,
             pair->other);
    note(setting->outcome, WRONG_DATA, line);
}

/* The two ranks, or consecutive ranks; the last of an odd number takes no part. */
static struct pair find_pair(const struct setting *setting, bool upper) {
    const struct call *call = first_call(setting);
    const bool two = setting->plan->operation->ranks.between_two;
    const int other = two ? find_other(call) : call->peers.rank ^ 1;
    return (struct pair){
        .other = other < call->peers.ranks || two ? other : call->peers.rank,
        .bytes = (int)(call->message.bytes < MOST_BYTES ? call->message.bytes : MOST_BYTES),
        .sends = (call->peers.rank > other) == upper,
    };
}

void check_synchronous(const struct setting *setting) {
    synchronise_for_order(setting);
    for (int turn = 0; turn < TURNS; turn++) {
        const struct pair pair = find_pair(setting, turn % 2);
        if (!setting->team->idle && pair.other != setting->team->rank)
            (pair.sends ? send : receive)(setting, &pair);
    }
}
