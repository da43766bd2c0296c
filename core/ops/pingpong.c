/* A message to and fro. The rows agree in who acts when, and differ in how a message is sent and how it is received:
 *
 *   leader   send ------->         -------> receive
 *   other         -------> receive send ----------> */
#include <stdlib.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "kit/data.h"
#include "kit/modes.h"

/* Of buffered messages one is under way; that those before it have left, the library may not know yet. */
enum { TAG = 1, OUT = 0, IN = 1, UNDER_WAY = 4 };
enum { FROM_SOURCE, FROM_ANY_SOURCE, PROBED, MATCHED };

struct pingpong;

/* Either end of a message, until it is complete. */
typedef int leg(struct call *, struct pingpong *);

struct legs {
    leg *send, *receive;
};

struct pingpong {
    bool leads;
    int other;
    /* Whom receives name: the other one, or MPI_ANY_SOURCE. */
    int source;
    struct legs legs;
    /* How the leader sends where it first posts the receive of the answer. */
    leg *ping;
    const struct mode *mode;
    void *buffer;
    /* The message as MPI_Pack makes it. */
    void *packed;
    int packed_bytes;
    int partitions;
};

static int rally(struct call *call) {
    struct pingpong *const own = call->own;
    const int code = own->leads ? own->legs.send(call, own) : own->legs.receive(call, own);
    if (code)
        return code;
    return own->leads ? own->legs.receive(call, own) : own->legs.send(call, own);
}

/* --- in one piece --- */

static int send(struct call *call, struct pingpong *own) {
    return own->mode->send(call->send, call->count, call->type, own->other, TAG, call->comm);
}

static int receive(struct call *call, struct pingpong *own) {
    return MPI_Recv(call->receive, call->count, call->type, own->source, TAG, call->comm, MPI_STATUS_IGNORE);
}

static int probe_and_receive(struct call *call, struct pingpong *own) {
    const int code = MPI_Probe(own->source, TAG, call->comm, MPI_STATUS_IGNORE);
    return code ? code : receive(call, own);
}

static int match_and_receive(struct call *call, struct pingpong *own) {
    MPI_Message message;
    const int code = MPI_Mprobe(own->source, TAG, call->comm, &message, MPI_STATUS_IGNORE);
    return code ? code : MPI_Mrecv(call->receive, call->count, call->type, &message, MPI_STATUS_IGNORE);
}

/* --- begun, and then waited for --- */

static int complete(struct call *call, int begun, int which) {
    return begun ? begun : MPI_Wait(&call->requests[which], MPI_STATUS_IGNORE);
}

static int isend(struct call *call, struct pingpong *own) {
    MPI_Request *request = &call->requests[OUT];
    return complete(call, own->mode->isend(call->send, call->count, call->type, own->other, TAG, call->comm, request), OUT);
}

static int post(struct call *call, struct pingpong *own) {
    return MPI_Irecv(call->receive, call->count, call->type, own->source, TAG, call->comm, &call->requests[IN]);
}

static int irecv(struct call *call, struct pingpong *own) {
    return complete(call, post(call, own), IN);
}

static int start_send(struct call *call, struct pingpong *own) {
    (void)own;
    return complete(call, MPI_Start(&call->requests[OUT]), OUT);
}

static int start_receive(struct call *call, struct pingpong *own) {
    (void)own;
    return complete(call, MPI_Start(&call->requests[IN]), IN);
}

/* The leader's legs where the answer is sent ready: its receive is posted before the message that it answers. */
static int post_and_send(struct call *call, struct pingpong *own) {
    const int code = call->form == PERSISTENT ? MPI_Start(&call->requests[IN]) : post(call, own);
    return code ? code : own->ping(call, own);
}

static int wait_for_answer(struct call *call, struct pingpong *own) {
    (void)own;
    return complete(call, MPI_SUCCESS, IN);
}

static const struct legs plain[FORMS] = {{send, receive}, {isend, irecv}, {start_send, start_receive}};
static leg *const receives[] = {receive, receive, probe_and_receive, match_and_receive};

/* --- with large counts --- */

static int send_large(struct call *call, struct pingpong *own) {
    return MPI_Send_c(call->send, call->large_count, call->type, own->other, TAG, call->comm);
}

static int receive_large(struct call *call, struct pingpong *own) {
    return MPI_Recv_c(call->receive, call->large_count, call->type, own->other, TAG, call->comm, MPI_STATUS_IGNORE);
}

static int isend_large(struct call *call, struct pingpong *own) {
    MPI_Request *request = &call->requests[OUT];
    return complete(call, MPI_Isend_c(call->send, call->large_count, call->type, own->other, TAG, call->comm, request), OUT);
}

static int irecv_large(struct call *call, struct pingpong *own) {
    MPI_Request *request = &call->requests[IN];
    return complete(call, MPI_Irecv_c(call->receive, call->large_count, call->type, own->other, TAG, call->comm, request), IN);
}

static const struct legs large[FORMS] = {{send_large, receive_large}, {isend_large, irecv_large}, {start_send, start_receive}};

/* --- packed by hand --- */

static int pack_and_send(struct call *call, struct pingpong *own) {
    int position = 0;
    const int code = MPI_Pack(call->send, call->count, call->type, own->packed, own->packed_bytes, &position, call->comm);
    return code ? code : MPI_Send(own->packed, position, MPI_PACKED, own->other, TAG, call->comm);
}

static int receive_and_unpack(struct call *call, struct pingpong *own) {
    int position = 0;
    const int code = MPI_Recv(own->packed, own->packed_bytes, MPI_PACKED, own->other, TAG, call->comm, MPI_STATUS_IGNORE);
    if (code)
        return code;
    return MPI_Unpack(own->packed, own->packed_bytes, &position, call->receive, call->count, call->type, call->comm);
}

static const struct legs packed[FORMS] = {{pack_and_send, receive_and_unpack}};

/* --- in partitions --- */

static const struct choice partitions_choice = {
    .name = "partitions",
    .help = "equal parts of a message, each sent off by MPI_Pready",
    .least = 1,
    .most = 1024,
    .usual = 8,
};

static int send_parts(struct call *call, struct pingpong *own) {
    int code = MPI_Start(&call->requests[OUT]);
    for (int part = 0; part < own->partitions && !code; part++)
        code = MPI_Pready(part, call->requests[OUT]);
    return complete(call, code, OUT);
}

static const struct legs partitioned[FORMS] = {[PERSISTENT] = {send_parts, start_receive}};

/* --- before and after --- */

static const struct choice receive_choice = {
    .name = "receive",
    .help = "how a message is received: from a named source, from any, once MPI_Probe has seen it, by MPI_Mprobe and MPI_Mrecv",
    NAMES_OF("source", "any-source", "probe", "matched-probe"),
};

static int take_part(struct call *call, const struct legs legs[FORMS]) {
    struct pingpong *own = call->own = ask_memory(sizeof *own);
    if (!own)
        return MPI_ERR_NO_MEM;
    own->leads = call->rank == call->first;
    own->other = own->source = other_of_two(call);
    own->legs = legs[call->form];
    return MPI_SUCCESS;
}

static void answer_ready(struct pingpong *own) {
    own->mode = own->leads ? &modes[STANDARD] : &modes[READY];
    if (!own->leads)
        return;
    own->ping = own->legs.send;
    own->legs = (struct legs){post_and_send, wait_for_answer};
}

static int choose_legs(struct call *call, struct pingpong *own) {
    const int64_t mode = chosen(call, &mode_choice), how = chosen(call, &receive_choice);
    own->mode = &modes[mode];
    if (how == FROM_ANY_SOURCE)
        own->source = MPI_ANY_SOURCE;
    if (call->form == BLOCKING)
        own->legs.receive = receives[how];
    if (mode == READY)
        answer_ready(own);
    return attach_buffer(call, UNDER_WAY, &own->buffer);
}

static int make_requests(struct call *call, const struct pingpong *own) {
    const int code = own->mode->send_init(call->send, call->count, call->type, own->other, TAG, call->comm, &call->requests[OUT]);
    if (code)
        return code;
    return MPI_Recv_init(call->receive, call->count, call->type, own->source, TAG, call->comm, &call->requests[IN]);
}

static int prepare(struct call *call) {
    int code = take_part(call, plain);
    if (!code)
        code = choose_legs(call, call->own);
    return code || call->form != PERSISTENT ? code : make_requests(call, call->own);
}

/* The leaders are the first half of the ranks, each with one of the second. */
static void pair_up(struct call *call) {
    const int half = call->ranks / 2;
    call->first = call->rank % half;
    call->second = call->first + half;
    call->moved_messages = call->ranks;
    call->moved_bytes = call->ranks * call->bytes;
}

static int prepare_pairs(struct call *call) {
    pair_up(call);
    return prepare(call);
}

static int prepare_packed(struct call *call) {
    int code = take_part(call, packed);
    struct pingpong *own = call->own;
    if (!code)
        code = MPI_Pack_size(call->count, call->type, call->comm, &own->packed_bytes);
    if (code)
        return code;
    own->packed = ask_memory((size_t)own->packed_bytes + 1);
    return own->packed ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int prepare_large(struct call *call) {
    int code = take_part(call, large);
    const struct pingpong *own = call->own;
    if (code || call->form != PERSISTENT)
        return code;
    code = MPI_Send_init_c(call->send, call->large_count, call->type, own->other, TAG, call->comm, &call->requests[OUT]);
    if (code)
        return code;
    return MPI_Recv_init_c(call->receive, call->large_count, call->type, own->other, TAG, call->comm, &call->requests[IN]);
}

/* In pairs and not between two, since Open MPI 5.0 waits for ever where not all ranks take part. */
static int prepare_partitioned(struct call *call) {
    pair_up(call);
    int code = take_part(call, partitioned);
    struct pingpong *own = call->own;
    if (code)
        return code;
    own->partitions = (int)chosen(call, &partitions_choice);
    const MPI_Count each = call->count / own->partitions;
    code = MPI_Psend_init(call->send, own->partitions, each, call->type, own->other, TAG, call->comm, MPI_INFO_NULL,
                          &call->requests[OUT]);
    if (code)
        return code;
    return MPI_Precv_init(call->receive, own->partitions, each, call->type, own->other, TAG, call->comm, MPI_INFO_NULL,
                          &call->requests[IN]);
}

static void finish(struct call *call) {
    struct pingpong *own = call->own;
    free_requests(call->requests, IN + 1);
    if (!own)
        return;
    detach_buffer(own->buffer);
    free(own->packed);
    free(own);
    call->own = NULL;
}

static const char *refuses(const struct call *call) {
    const int64_t how = chosen(call, &receive_choice);
    if (how >= PROBED && call->form != BLOCKING)
        return "only a receive that blocks is probed for first: receive=probe and matched-probe need form=blocking";
    if (how >= PROBED && chosen(call, &mode_choice) == READY)
        return "a receive that is probed for is not posted before the message: mode=ready cannot be with it";
    return refuse_mode(call, UNDER_WAY);
}

static const char *refuses_partitions(const struct call *call) {
    if (call->count % chosen(call, &partitions_choice) != 0)
        return "the elements of the message cannot be divided equally among the partitions";
    return NULL;
}

static void fill(struct call *call) {
    fill_bytes(call->send, call->send_bytes, call->seed + (unsigned)call->rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct pingpong *own = call->own;
    check_bytes(call->receive, call->receive_bytes, call->seed + (unsigned)own->other, 0, mismatch);
}

#define TO_AND_FRO \
    POINT_TO_POINT, .metric = "latency", SENDS({.own = 1}), RECEIVES({.own = 1}), .completes = true, .finish = finish, \
        .fill = fill, .check = check
#define ALONE .between_two = true, .rank_0_measures = true, .start = "none"

static const struct operation pingpong = {
    .name = "pingpong",
    .help = "half of a message's way to another rank and of its answer's way back",
    .standard = "MPI-4.1 3.2",
    TO_AND_FRO,
    ALONE,
    .threads = true,
    CHOICES(&mode_choice, &receive_choice),
    .refuses = refuses,
    .forms = {rally, rally, rally},
    .prepare = prepare,
};

static const struct operation pingpong_packed = {
    .name = "pingpong-packed",
    .help = "half of a message to another rank and back, packed before each way and unpacked after: what derived types save",
    .standard = "MPI-4.1 5.2",
    TO_AND_FRO,
    ALONE,
    .threads = true,
    .forms = {rally},
    .prepare = prepare_packed,
};

static const struct operation pingpong_large = {
    .name = "pingpong-large",
    .help = "half of a message to another rank and back, by the calls that count elements as MPI_Count",
    .standard = "MPI-4.1 3.2",
    TO_AND_FRO,
    ALONE,
    .threads = true,
    .large = true,
    .forms = {rally, rally, rally},
    .prepare = prepare_large,
};

static const struct operation pingpong_partitioned = {
    .name = "pingpong-partitioned",
    .help = "half of a message to another rank and back, handed over in partitions, all pairs of ranks at once",
    .standard = "MPI-4.1 4.2",
    TO_AND_FRO,
    .in_pairs = true,
    .start = "window",
    CHOICES(&partitions_choice),
    .refuses = refuses_partitions,
    .forms = {[PERSISTENT] = rally},
    .prepare = prepare_partitioned,
};

static const struct operation pingpong_pairs = {
    .name = "pingpong-pairs",
    .help = "half of a message to another rank and back, between the ranks' first half and their second, all pairs at once",
    .standard = "MPI-4.1 3.2",
    TO_AND_FRO,
    .in_pairs = true,
    .threads = true,
    .start = "window",
    CHOICES(&mode_choice, &receive_choice),
    .refuses = refuses,
    .forms = {rally, rally, rally},
    .prepare = prepare_pairs,
};
REGISTER(operation, pingpong);
REGISTER(operation, pingpong_packed);
REGISTER(operation, pingpong_large);
REGISTER(operation, pingpong_partitioned);
REGISTER(operation, pingpong_pairs);
