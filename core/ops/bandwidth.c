/* Windows of messages. The rows share the window, and differ in who sends to whom:
 *
 *   from          send send send ... wait           receive the confirmation
 *   to            receive receive receive ... wait  confirm
 *
 * Receives begin before sends, so that a rank can do both; in ready mode the receiver first reports that they are posted.
 * With several partners, all get their first message before one gets its second. */
#include <stdlib.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "kit/calls.h"
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/receipts.h"

enum { TAG = 1, TAG_AWAITED = 2, TAG_ARRIVED = 3 };

/* Consecutive ranks. */
struct range {
    int first, count;
};

static const struct range ONE = {0, 1};

struct windows {
    /* Ranks that this rank sends a window to, and ranks that send it one. */
    struct range to, from;
    const struct mode *mode;
    bool ready;
    /* The messages that the partner sends in one round, and which of them is for this rank. */
    struct range among;
    /* Distance between messages in the send buffer. */
    long step;
    /* Whether receivers confirm a window. If windows go both ways, the window itself confirms. */
    bool notified;
    void *buffer;
    /* Requests of receives, then of sends; and the number to wait for: blocking calls have none. */
    MPI_Request *requests;
    int receives, sends, pending;
};

/* Sender of the message for a receive. */
static int find_sender(const struct windows *state, int number) {
    return state->from.first + number % state->from.count;
}

/* --- one message --- */

typedef int message(struct call *, const struct windows *, int rank, int number);

static int receive(struct call *call, const struct windows *state, int rank, int number) {
    (void)state;
    return MPI_Recv(call->buffers.receive + number * call->message.extent, call->message.count, call->message.type, rank, TAG,
                    call->peers.comm, next_receipt(call));
}

static int irecv(struct call *call, const struct windows *state, int rank, int number) {
    return MPI_Irecv(call->buffers.receive + number * call->message.extent, call->message.count, call->message.type, rank, TAG,
                     call->peers.comm, &state->requests[number]);
}

static int recv_init(struct call *call, const struct windows *state, int rank, int number) {
    return MPI_Recv_init(call->buffers.receive + number * call->message.extent, call->message.count, call->message.type, rank,
                         TAG, call->peers.comm, &state->requests[number]);
}

static unsigned char *find_message(const struct call *call, const struct windows *state, int number) {
    return call->buffers.send + number * state->step;
}

static int send(struct call *call, const struct windows *state, int rank, int number) {
    return state->mode->send(find_message(call, state, number), call->message.count, call->message.type, rank, TAG,
                             call->peers.comm);
}

static int isend(struct call *call, const struct windows *state, int rank, int number) {
    return state->mode->isend(find_message(call, state, number), call->message.count, call->message.type, rank, TAG,
                              call->peers.comm, &state->requests[state->receives + number]);
}

static int send_init(struct call *call, const struct windows *state, int rank, int number) {
    return state->mode->send_init(find_message(call, state, number), call->message.count, call->message.type, rank, TAG,
                                  call->peers.comm, &state->requests[state->receives + number]);
}

/* --- a window --- */

typedef int step(struct call *, const struct windows *);

static inline int for_each_message(struct call *call, const struct windows *state, struct range partners, message *act) {
    int code = MPI_SUCCESS, number = 0;
    for (int round = 0; round < call->window.messages; round++)
        for (int i = 0; i < partners.count && !code; i++, number++)
            code = act(call, state, partners.first + i, number);
    return code;
}

static int receive_each(struct call *call, const struct windows *state) {
    return for_each_message(call, state, state->from, receive);
}

static int irecv_each(struct call *call, const struct windows *state) {
    return for_each_message(call, state, state->from, irecv);
}

static int start_receives(struct call *call, const struct windows *state) {
    (void)call;
    return MPI_Startall(state->receives, state->requests);
}

static int send_each(struct call *call, const struct windows *state) {
    return for_each_message(call, state, state->to, send);
}

static int isend_each(struct call *call, const struct windows *state) {
    return for_each_message(call, state, state->to, isend);
}

static int start_sends(struct call *call, const struct windows *state) {
    (void)call;
    return MPI_Startall(state->sends, state->requests + state->receives);
}

/* Receivers send an empty message to their senders. If all ranks do both, one MPI_Sendrecv does, so that no rank blocks
 * another. */
static int notify(struct call *call, const struct windows *state, int tag) {
    int code = MPI_SUCCESS;
    if (state->from.count > 0 && state->to.count > 0)
        return MPI_Sendrecv(NULL, 0, MPI_BYTE, state->from.first, tag, NULL, 0, MPI_BYTE, state->to.first, tag, call->peers.comm,
                            MPI_STATUS_IGNORE);
    for (int i = 0; i < state->from.count && !code; i++)
        code = MPI_Send(NULL, 0, MPI_BYTE, state->from.first + i, tag, call->peers.comm);
    for (int i = 0; i < state->to.count && !code; i++)
        code = MPI_Recv(NULL, 0, MPI_BYTE, state->to.first + i, tag, call->peers.comm, MPI_STATUS_IGNORE);
    return code;
}

/* Ranks that only send need no statuses. */
static MPI_Status *find_window_statuses(struct call *call, const struct windows *state) {
    return call->window.receipts ? next_receipts(call, state->pending) : MPI_STATUSES_IGNORE;
}

static int run_window(struct call *call, step *receive_all, step *send_all) {
    const struct windows *const state = call->state;
    int code = receive_all(call, state);
    if (!code && state->ready)
        code = notify(call, state, TAG_AWAITED);
    if (!code)
        code = send_all(call, state);
    if (!code)
        code = MPI_Waitall(state->pending, state->requests, find_window_statuses(call, state));
    return code || !state->notified ? code : notify(call, state, TAG_ARRIVED);
}

/* Blocking receives are posted one after the other: too late for ready mode. */
static int blocking(struct call *call) {
    const struct windows *state = call->state;
    return run_window(call, state->ready ? irecv_each : receive_each, send_each);
}

static int nonblocking(struct call *call) {
    return run_window(call, irecv_each, isend_each);
}

static int persistent(struct call *call) {
    return run_window(call, start_receives, start_sends);
}

/* --- before and after --- */

static int count_messages(const struct call *call) {
    return (int)read_choice(call, &window_choice);
}

/* Two windows per partner: the library may not have noticed yet that the one before was sent. */
static int count_most_messages(const struct call *call, int partners) {
    return 2 * count_messages(call) * partners;
}

static int make_requests(struct call *call, struct windows *state) {
    const int count = state->receives + state->sends;
    state->requests = try_memory(sizeof *state->requests * (size_t)(count + 1));
    if (!state->requests)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < count; i++)
        state->requests[i] = MPI_REQUEST_NULL;
    if (call->form != PERSISTENT)
        return MPI_SUCCESS;
    const int code = for_each_message(call, state, state->from, recv_init);
    return code ? code : for_each_message(call, state, state->to, send_init);
}

static int expect_messages(struct call *call, const struct windows *state) {
    const int per_call = state->pending > state->receives ? state->pending : state->receives;
    const int code = make_receipts(call, per_call, state->receives, call->message.type);
    for (int number = 0; number < state->receives && !code; number++)
        expect_receipt(call, number, (struct receipt){find_sender(state, number), TAG, call->message.count});
    return code;
}

/* `sent`: windows that all ranks send in one call. */
static int prepare(struct call *call, struct range to, struct range from, struct range among, int64_t sent, bool notified) {
    struct windows *state = call->state = try_memory(sizeof *state);
    if (!state)
        return MPI_ERR_NO_MEM;
    *state = (struct windows){
        .to = to,
        .from = from,
        .among = among,
        .mode = &modes[read_choice(call, &mode_choice)],
        .ready = read_choice(call, &mode_choice) == READY,
        .notified = notified,
        .step = shares_send_buffer(call) ? 0 : call->message.extent,
        .receives = from.count * call->window.messages,
        .sends = to.count * call->window.messages,
    };
    state->pending = call->form != BLOCKING ? state->receives + state->sends : state->ready ? state->receives : 0;
    call->moved.messages = sent * call->window.messages;
    call->moved.bytes = call->moved.messages * call->message.bytes;
    int code = expect_messages(call, state);
    if (!code)
        code = attach_buffer(call, count_most_messages(call, to.count), &state->buffer);
    return code ? code : make_requests(call, state);
}

static int prepare_one_way(struct call *call, int from, int to, int64_t sent) {
    return prepare(call, (struct range){to, call->peers.rank == from}, (struct range){from, call->peers.rank == to}, ONE, sent,
                   true);
}

static int prepare_both_ways(struct call *call, int other, int64_t sent) {
    return prepare(call, (struct range){other, 1}, (struct range){other, 1}, ONE, sent, false);
}

static int prepare_bandwidth(struct call *call) {
    return prepare_one_way(call, call->peers.first, call->peers.second, 1);
}

static int prepare_bidirectional(struct call *call) {
    return prepare_both_ways(call, find_other(call), 2);
}

static int prepare_rate(struct call *call) {
    const int half = call->peers.ranks / 2, from = call->peers.rank % half;
    return prepare_one_way(call, from, from + half, half);
}

static int prepare_bidirectional_rate(struct call *call) {
    return prepare_both_ways(call, (call->peers.rank + call->peers.ranks / 2) % call->peers.ranks, call->peers.ranks);
}

static int prepare_fan(struct call *call, bool in) {
    const int others = call->peers.ranks - 1;
    const struct range nobody = {0, 0}, hub = {0, 1}, rim = {1, others};
    const struct range among = in ? ONE : (struct range){call->peers.rank - 1, others};
    const struct range partners = call->peers.rank == 0 ? rim : hub;
    const bool receives = (call->peers.rank == 0) == in;
    return prepare(call, receives ? nobody : partners, receives ? partners : nobody, among, others, true);
}

static int prepare_fan_in(struct call *call) {
    return prepare_fan(call, true);
}

static int prepare_fan_out(struct call *call) {
    return prepare_fan(call, false);
}

static void finish(struct call *call) {
    struct windows *state = call->state;
    if (!state)
        return;
    if (state->requests)
        free_requests(state->requests, state->receives + state->sends);
    detach_buffer(state->buffer);
    free(state->requests);
    free_state(call);
}

static const char *refuse(const struct call *call) {
    return refuse_mode(call, count_most_messages(call, 1));
}

static const char *refuse_fan_out(const struct call *call) {
    return refuse_mode(call, count_most_messages(call, call->peers.ranks - 1));
}

/* Data differ between messages, unless all leave from one buffer. */
static unsigned find_stream(const struct call *call, int from, int number) {
    return call->seed + (unsigned)(from * MOST_BLOCKS) + (shares_send_buffer(call) ? 0 : (unsigned)number);
}

static void fill(struct call *call) {
    const struct windows *state = call->state;
    const int buffers = shares_send_buffer(call) && state->sends > 0 ? 1 : state->sends;
    for (int number = 0; number < buffers; number++)
        fill_bytes(call->buffers.send + number * call->message.bytes, call->message.bytes,
                   find_stream(call, call->peers.rank, number));
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct windows *state = call->state;
    for (int i = 0; i < state->receives; i++) {
        const int number = i / state->from.count * state->among.count + state->among.first;
        check_bytes(call->buffers.receive + i * call->message.bytes, call->message.bytes,
                    find_stream(call, find_sender(state, i), number), i * call->message.bytes, mismatch);
    }
}

#define WINDOWS \
    POINT_TO_POINT, .standard = "MPI-4.1 3.7", .hooks.count_messages = count_messages, .data.shares_buffer = shares_send_buffer, \
                                               .timing.completes = true, .timing.threads = true, .usual = NONBLOCKING, \
                                               CHOICES(&window_choice, &mode_choice, &send_buffers_choice), \
                                               .hooks.finish = finish, .hooks.fill = fill, .hooks.check = check
#define A_WINDOW {.base = 1, .per_message = true}
#define BOTH_WAYS SENDS(A_WINDOW), RECEIVES(A_WINDOW)

static const struct operation bandwidth = {
    .name = "bandwidth",
    .help = "a window of messages to another rank, until it confirms all of them",
    WINDOWS,
    .metric = METRIC_BANDWIDTH,
    FROM_ROOT(A_WINDOW),
    .ranks.between_two = true,
    .timing.rank_0_measures = true,
    .timing.start = "none",
    .hooks.refuse = refuse,
    .forms = {blocking, nonblocking, persistent},
    .hooks.prepare = prepare_bandwidth,
};

static const struct operation bandwidth_bidirectional = {
    .name = "bandwidth-bidirectional",
    .help = "a window of messages each way between two ranks, until both have received theirs",
    WINDOWS,
    .metric = METRIC_BANDWIDTH,
    BOTH_WAYS,
    .ranks.between_two = true,
    .timing.start = "window",
    .hooks.refuse = refuse,
    .forms = {[NONBLOCKING] = nonblocking, [PERSISTENT] = persistent},
    .hooks.prepare = prepare_bidirectional,
};

static const struct operation message_rate = {
    .name = "message-rate",
    .help = "windows of messages from the first half of the ranks to the second, all pairs at once, until all are confirmed",
    WINDOWS,
    .metric = METRIC_RATE,
    BOTH_WAYS,
    .ranks.in_pairs = true,
    .timing.start = "window",
    .hooks.refuse = refuse,
    .forms = {blocking, nonblocking, persistent},
    .hooks.prepare = prepare_rate,
};

static const struct operation message_rate_bidirectional = {
    .name = "message-rate-bidirectional",
    .help = "windows of messages both ways between the first half of the ranks and the second, until all have received theirs",
    WINDOWS,
    .metric = METRIC_RATE,
    BOTH_WAYS,
    .ranks.in_pairs = true,
    .timing.start = "window",
    .hooks.refuse = refuse,
    .forms = {[NONBLOCKING] = nonblocking, [PERSISTENT] = persistent},
    .hooks.prepare = prepare_bidirectional_rate,
};

static const struct operation fan_in = {
    .name = "fan-in",
    .help = "windows of messages from all other ranks to rank 0 at once, until it confirms all of them",
    WINDOWS,
    .metric = METRIC_BANDWIDTH,
    .amounts.send = A_WINDOW,
    .amounts.root_receive = {.base = -1, .each = 1, .per_message = true},
    .ranks.least = 2,
    .timing.start = "window",
    .hooks.refuse = refuse,
    .forms = {blocking, nonblocking, persistent},
    .hooks.prepare = prepare_fan_in,
};

static const struct operation fan_out = {
    .name = "fan-out",
    .help = "windows of messages from rank 0 to all others at once, until each confirms all of them",
    WINDOWS,
    .metric = METRIC_BANDWIDTH,
    .amounts.root_send = {.base = -1, .each = 1, .per_message = true},
    .amounts.receive = A_WINDOW,
    .ranks.least = 2,
    .timing.start = "window",
    .hooks.refuse = refuse_fan_out,
    .forms = {blocking, nonblocking, persistent},
    .hooks.prepare = prepare_fan_out,
};
REGISTER(operation, bandwidth);
REGISTER(operation, bandwidth_bidirectional);
REGISTER(operation, message_rate);
REGISTER(operation, message_rate_bidirectional);
REGISTER(operation, fan_in);
REGISTER(operation, fan_out);
