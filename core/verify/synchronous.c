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

static void receive(const struct setting *setting, const struct pair *pair, int64_t late_ns) {
    const struct call *call = first_call(setting);
    wait_for_announcement(setting, pair->other);
    const int64_t entered_ns = find_earliest_ns(setting, wait_late(setting, late_ns));
    note_code(setting->outcome, MPI_Recv(message, pair->bytes, MPI_BYTE, pair->other, TAG, call->peers.comm, MPI_STATUS_IGNORE),
              "MPI_Recv");
    send_bytes(setting->team, &entered_ns, sizeof entered_ns, pair->other, TAG_CAME);
}

static void send(const struct setting *setting, const struct pair *pair) {
    const struct source *source = setting->world->source;
    const struct twin_reading before = read_both(source);
    int64_t entered_ns;
    announce(setting, pair->other);
    note_code(setting->outcome, run_send(first_call(setting), pair), "a synchronous send");
    const int64_t ended_ns = find_latest_ns(setting, source->read_ns());
    receive_bytes(setting->team, &entered_ns, sizeof entered_ns, pair->other, TAG_CAME);
    if (measure_jump_ns(&before, source) != 0 || ended_ns >= entered_ns)
        return;
    note(setting->outcome, WRONG_DATA, "rank %d: a synchronous send completed before rank %d began to receive",
         setting->team->rank, pair->other);
}

static void check_once(const struct setting *setting, int64_t late_ns, bool upper) {
    const struct pair pair = find_pair(setting, MOST_BYTES, upper);
    if (setting->team->idle || pair.other == setting->team->rank)
        return;
    if (pair.sends)
        send(setting, &pair);
    else
        receive(setting, &pair, late_ns);
}

void check_synchronous(const struct setting *setting) {
    synchronise_for_order(setting);
    for (int turn = 0; turn < TURNS; turn++)
        check_once(setting, LATE_NS, turn % 2);
}

void check_synchronous_again(const struct setting *setting) {
    for (int turn = 0; turn < 2; turn++)
        check_once(setting, LATE_BETWEEN_STAGES_NS, turn);
}
