/* A message to and fro. The rows share the sequence, and differ in how a message is sent and received:
 *
 *   leader   send ------->         -------> receive
 *   other         -------> receive send ---------->  */
#include <stdlib.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "kit/calls.h"
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/receipts.h"

/* One buffered message is in flight; the library may not have noticed yet that earlier ones were sent. */
enum { TAG = 1, OUT = 0, IN = 1, UNDER_WAY = 4 };
enum { FROM_SOURCE, FROM_ANY_SOURCE, PROBED, MATCHED };

struct pingpong;

/* One end of a message, until complete. */
typedef int leg(struct call *, struct pingpong *);

struct legs {
    leg *send, *receive;
};

struct pingpong {
    bool leads;
    int other;
    /* Source of receives: the other rank, or MPI_ANY_SOURCE. */
    int source;
    struct legs legs;
    /* How the leader sends if it posts the receive of the answer first. */
    leg *ping;
    const struct mode *mode;
    void *buffer;
    /* The message packed by MPI_Pack. */
    void *packed;
    int packed_bytes;
    int partitions;
};

static int run_ping_pong(struct call *call) {
    struct pingpong *const state = call->state;
    const int code = state->leads ? state->legs.send(call, state) : state->legs.receive(call, state);
    if (code)
        return code;
    return state->leads ? state->legs.receive(call, state) : state->legs.send(call, state);
}

/* --- in one piece --- */

static int send(struct call *call, struct pingpong *state) {
    return state->mode->send(call->buffers.send, call->message.count, call->message.type, state->other, TAG, call->peers.comm);
}

static int receive(struct call *call, struct pingpong *state) {
    return MPI_Recv(call->buffers.receive, call->message.count, call->message.type, state->source, TAG, call->peers.comm,
                    next_receipt(call));
}

static int probe_and_receive(struct call *call, struct pingpong *state) {
    const int code = MPI_Probe(state->source, TAG, call->peers.comm, next_receipt(call));
    return code ? code : receive(call, state);
}

static int match_and_receive(struct call *call, struct pingpong *state) {
    MPI_Message message;
    const int code = MPI_Mprobe(state->source, TAG, call->peers.comm, &message, next_receipt(call));
    return code ? code : MPI_Mrecv(call->buffers.receive, call->message.count, call->message.type, &message, next_receipt(call));
}

/* --- begun, and then waited for --- */

static int complete(struct call *call, int begun, int which) {
    return begun ? begun : MPI_Wait(&call->window.requests[which], which == IN ? next_receipt(call) : MPI_STATUS_IGNORE);
}

static int isend(struct call *call, struct pingpong *state) {
    MPI_Request *request = &call->window.requests[OUT];
    return complete(call,
                    state->mode->isend(call->buffers.send, call->message.count, call->message.type, state->other, TAG,
                                       call->peers.comm, request),
                    OUT);
}

static int post(struct call *call, struct pingpong *state) {
    return MPI_Irecv(call->buffers.receive, call->message.count, call->message.type, state->source, TAG, call->peers.comm,
                     &call->window.requests[IN]);
}

static int irecv(struct call *call, struct pingpong *state) {
    return complete(call, post(call, state), IN);
}

static int start_send(struct call *call, struct pingpong *state) {
    (void)state;
    return complete(call, MPI_Start(&call->window.requests[OUT]), OUT);
}

static int start_receive(struct call *call, struct pingpong *state) {
    (void)state;
    return complete(call, MPI_Start(&call->window.requests[IN]), IN);
}

/* The leader's part in ready mode: the receive of the answer is posted before the message is sent. */
static int post_and_send(struct call *call, struct pingpong *state) {
    const int code = call->form == PERSISTENT ? MPI_Start(&call->window.requests[IN]) : post(call, state);
    return code ? code : state->ping(call, state);
}

static int wait_for_answer(struct call *call, struct pingpong *state) {
    (void)state;
    return complete(call, MPI_SUCCESS, IN);
}

static const struct legs plain[FORMS] = {{send, receive}, {isend, irecv}, {start_send, start_receive}};
static leg *const receives[] = {receive, receive, probe_and_receive, match_and_receive};

/* --- with large counts --- */

static int send_large(struct call *call, struct pingpong *state) {
    return MPI_Send_c(call->buffers.send, call->message.large_count, call->message.type, state->other, TAG, call->peers.comm);
}

static int receive_large(struct call *call, struct pingpong *state) {
    return MPI_Recv_c(call->buffers.receive, call->message.large_count, call->message.type, state->other, TAG, call->peers.comm,
                      next_receipt(call));
}

static int isend_large(struct call *call, struct pingpong *state) {
    MPI_Request *request = &call->window.requests[OUT];
    return complete(call,
                    MPI_Isend_c(call->buffers.send, call->message.large_count, call->message.type, state->other, TAG,
                                call->peers.comm, request),
                    OUT);
}

static int irecv_large(struct call *call, struct pingpong *state) {
    MPI_Request *request = &call->window.requests[IN];
    return complete(call,
                    MPI_Irecv_c(call->buffers.receive, call->message.large_count, call->message.type, state->other, TAG,
                                call->peers.comm, request),
                    IN);
}

static const struct legs large[FORMS] = {{send_large, receive_large}, {isend_large, irecv_large}, {start_send, start_receive}};

/* --- packed by hand --- */

static int pack_and_send(struct call *call, struct pingpong *state) {
    int position = 0;
    const int code = MPI_Pack(call->buffers.send, call->message.count, call->message.type, state->packed, state->packed_bytes,
                              &position, call->peers.comm);
    return code ? code : MPI_Send(state->packed, position, MPI_PACKED, state->other, TAG, call->peers.comm);
}

static int receive_and_unpack(struct call *call, struct pingpong *state) {
    int position = 0;
    const int code =
        MPI_Recv(state->packed, state->packed_bytes, MPI_PACKED, state->other, TAG, call->peers.comm, next_receipt(call));
    if (code)
        return code;
    return MPI_Unpack(state->packed, state->packed_bytes, &position, call->buffers.receive, call->message.count,
                      call->message.type, call->peers.comm);
}

static const struct legs packed[FORMS] = {{pack_and_send, receive_and_unpack}};

/* --- in partitions --- */

static const struct choice partitions_choice = {
    .name = "partitions",
    .help = "equal parts of a message, each marked ready by MPI_Pready",
    .least = 1,
    .most = 1024,
    .usual = 8,
};

static int send_parts(struct call *call, struct pingpong *state) {
    int code = MPI_Start(&call->window.requests[OUT]);
    for (int part = 0; part < state->partitions && !code; part++)
        code = MPI_Pready(part, call->window.requests[OUT]);
    return complete(call, code, OUT);
}

static const struct legs partitioned[FORMS] = {[PERSISTENT] = {send_parts, start_receive}};

/* --- before and after --- */

static const struct choice receive_choice = {
    .name = "receive",
    .help = "how a message is received: from a given source, from any, after MPI_Probe, by MPI_Mprobe and MPI_Mrecv",
    NAMES_OF("source", "any-source", "probe", "matched-probe"),
};

static int make_state(struct call *call, const struct legs legs[FORMS]) {
    struct pingpong *state = call->state = try_memory(sizeof *state);
    if (!state)
        return MPI_ERR_NO_MEM;
    state->leads = call->peers.rank == call->peers.first;
    state->other = state->source = find_other(call);
    state->legs = legs[call->form];
    return MPI_SUCCESS;
}

static void answer_ready(struct pingpong *state) {
    state->mode = state->leads ? &modes[STANDARD] : &modes[READY];
    if (!state->leads)
        return;
    state->ping = state->legs.send;
    state->legs = (struct legs){post_and_send, wait_for_answer};
}

static int choose_legs(struct call *call, struct pingpong *state) {
    const int64_t mode = read_choice(call, &mode_choice), how = read_choice(call, &receive_choice);
    state->mode = &modes[mode];
    if (how == FROM_ANY_SOURCE)
        state->source = MPI_ANY_SOURCE;
    if (call->form == BLOCKING)
        state->legs.receive = receives[how];
    if (mode == READY)
        answer_ready(state);
    return attach_buffer(call, UNDER_WAY, &state->buffer);
}

static int make_requests(struct call *call, const struct pingpong *state) {
    const int code = state->mode->send_init(call->buffers.send, call->message.count, call->message.type, state->other, TAG,
                                            call->peers.comm, &call->window.requests[OUT]);
    if (code)
        return code;
    return MPI_Recv_init(call->buffers.receive, call->message.count, call->message.type, state->source, TAG, call->peers.comm,
                         &call->window.requests[IN]);
}

/* The status has no count of a message with more elements than an int counts. */
static int expect_messages(struct call *call, const struct pingpong *state) {
    const int elements = call->message.large_count > INT32_MAX ? -1 : call->message.count;
    return expect_receipts(call, call->message.type, (struct receipt){state->other, TAG, elements});
}

static int prepare(struct call *call) {
    int code = make_state(call, plain);
    if (!code)
        code = expect_messages(call, call->state);
    if (!code)
        code = choose_legs(call, call->state);
    return code || call->form != PERSISTENT ? code : make_requests(call, call->state);
}

/* The leaders are the first half of the ranks, each with a rank of the second half. */
static void choose_pair(struct call *call) {
    const int half = call->peers.ranks / 2;
    call->peers.first = call->peers.rank % half;
    call->peers.second = call->peers.first + half;
    call->moved.messages = call->peers.ranks;
    call->moved.bytes = call->peers.ranks * call->message.bytes;
}

static int prepare_pairs(struct call *call) {
    choose_pair(call);
    return prepare(call);
}

static int prepare_packed(struct call *call) {
    int code = make_state(call, packed);
    struct pingpong *state = call->state;
    if (!code)
        code = expect_receipts(call, MPI_PACKED, (struct receipt){state->other, TAG, -1});
    if (!code)
        code = MPI_Pack_size(call->message.count, call->message.type, call->peers.comm, &state->packed_bytes);
    if (code)
        return code;
    state->packed = try_memory((size_t)state->packed_bytes + 1);
    return state->packed ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int prepare_large(struct call *call) {
    int code = make_state(call, large);
    const struct pingpong *state = call->state;
    if (!code)
        code = expect_messages(call, state);
    if (code || call->form != PERSISTENT)
        return code;
    code = MPI_Send_init_c(call->buffers.send, call->message.large_count, call->message.type, state->other, TAG, call->peers.comm,
                           &call->window.requests[OUT]);
    if (code)
        return code;
    return MPI_Recv_init_c(call->buffers.receive, call->message.large_count, call->message.type, state->other, TAG,
                           call->peers.comm, &call->window.requests[IN]);
}

/* In pairs, not between two ranks, since Open MPI 5.0 waits for ever unless all ranks take part. Statuses are not
 * checked: MPI-4.1 does not define them (mpi-forum/mpi-issues 820). */
static int prepare_partitioned(struct call *call) {
    choose_pair(call);
    int code = make_state(call, partitioned);
    struct pingpong *state = call->state;
    if (code)
        return code;
    state->partitions = (int)read_choice(call, &partitions_choice);
    const MPI_Count each = call->message.count / state->partitions;
    code = MPI_Psend_init(call->buffers.send, state->partitions, each, call->message.type, state->other, TAG, call->peers.comm,
                          MPI_INFO_NULL, &call->window.requests[OUT]);
    if (code)
        return code;
    return MPI_Precv_init(call->buffers.receive, state->partitions, each, call->message.type, state->other, TAG, call->peers.comm,
                          MPI_INFO_NULL, &call->window.requests[IN]);
}

static void finish(struct call *call) {
    struct pingpong *state = call->state;
    free_requests(call->window.requests, IN + 1);
    if (!state)
        return;
    detach_buffer(state->buffer);
    free(state->packed);
    free_state(call);
}

static const char *refuse(const struct call *call) {
    const int64_t how = read_choice(call, &receive_choice);
    if (how >= PROBED && call->form != BLOCKING)
        return "receive=probe and matched-probe need form=blocking";
    if (how >= PROBED && read_choice(call, &mode_choice) == READY)
        return "mode=ready needs posted receives: receive=probe and matched-probe post them after the message";
    return refuse_mode(call, UNDER_WAY);
}

static const char *refuse_partitions(const struct call *call) {
    if (call->message.count % read_choice(call, &partitions_choice) != 0)
        return "the elements of the message are not a multiple of the partitions";
    return NULL;
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_from(call, ((const struct pingpong *)call->state)->other, mismatch);
}

#define TO_AND_FRO \
    POINT_TO_POINT, .metric = METRIC_LATENCY, SENDS({.base = 1}), RECEIVES({.base = 1}), \
        .timing.completes = true, .hooks.finish = finish, .hooks.fill = fill_own, .hooks.check = check
#define ALONE .ranks.between_two = true, .timing.rank_0_measures = true, .timing.start = "none"

static const struct operation pingpong = {
    .name = "pingpong",
    .help = "half of a round trip of a message to another rank",
    .standard = "MPI-4.1 3.2",
    TO_AND_FRO,
    ALONE,
    .timing.threads = true,
    CHOICES(&mode_choice, &receive_choice),
    .hooks.refuse = refuse,
    .forms = {run_ping_pong, run_ping_pong, run_ping_pong},
    .hooks.prepare = prepare,
};

static const struct operation pingpong_packed = {
    .name = "pingpong-packed",
    .help = "half of a round trip, with MPI_Pack before and MPI_Unpack after each message: for comparison with derived types",
    .standard = "MPI-4.1 5.2",
    TO_AND_FRO,
    ALONE,
    .timing.threads = true,
    .forms = {run_ping_pong},
    .hooks.prepare = prepare_packed,
};

static const struct operation pingpong_large = {
    .name = "pingpong-large",
    .help = "half of a round trip, by the calls with counts of type MPI_Count",
    .standard = "MPI-4.1 3.2",
    TO_AND_FRO,
    ALONE,
    .timing.threads = true,
    .data.large = true,
    .forms = {run_ping_pong, run_ping_pong, run_ping_pong},
    .hooks.prepare = prepare_large,
};

static const struct operation pingpong_partitioned = {
    .name = "pingpong-partitioned",
    .help = "half of a round trip of a message in partitions, all pairs of ranks at once",
    .standard = "MPI-4.1 4.2",
    TO_AND_FRO,
    .ranks.in_pairs = true,
    .timing.start = "window",
    CHOICES(&partitions_choice),
    .hooks.refuse = refuse_partitions,
    .forms = {[PERSISTENT] = run_ping_pong},
    .hooks.prepare = prepare_partitioned,
};

static const struct operation pingpong_pairs = {
    .name = "pingpong-pairs",
    .help = "half of a round trip between the first half of the ranks and the second, all pairs at once",
    .standard = "MPI-4.1 3.2",
    TO_AND_FRO,
    .ranks.in_pairs = true,
    .timing.threads = true,
    .timing.start = "window",
    CHOICES(&mode_choice, &receive_choice),
    .hooks.refuse = refuse,
    .forms = {run_ping_pong, run_ping_pong, run_ping_pong},
    .hooks.prepare = prepare_pairs,
};
REGISTER(operation, pingpong);
REGISTER(operation, pingpong_packed);
REGISTER(operation, pingpong_large);
REGISTER(operation, pingpong_partitioned);
REGISTER(operation, pingpong_pairs);
