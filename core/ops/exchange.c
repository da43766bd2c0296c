/* Every rank exchanges a message with each of its neighbours at once. The rows differ in the neighbours.
 *
 * Neighbours form pairs, one before and one after a rank: block i is received as its mirror, i ^ 1, which is also the
 * tag, since both neighbours can be the same rank. Between two ranks, the only block is its own mirror. */
#include <string.h>

#include "base/allocation.h"
#include "kit/calls.h"
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/neighbours.h"
#include "kit/receipts.h"

struct exchange {
    int count;
    int ranks[MOST_NEIGHBOURS];
    int mirrors[MOST_NEIGHBOURS];
    /* Two per message; they replace the core's, which are fewer. */
    MPI_Request requests[2 * MOST_NEIGHBOURS];
    MPI_Request *replaced;
    struct layout layout;
};

static const struct exchange *get_exchange(const struct call *call) {
    return call->state;
}

static unsigned char *find_block_start(unsigned char *data, const struct call *call, int block) {
    return data + block * call->message.extent;
}

/* --- one message each way --- */

typedef int message(struct call *, const struct exchange *, int block, MPI_Request *);

static int isend(struct call *call, const struct exchange *state, int block, MPI_Request *request) {
    return MPI_Isend(find_block_start(call->buffers.send, call, block), call->message.count, call->message.type,
                     state->ranks[block], block, call->peers.comm, request);
}

static int send_init(struct call *call, const struct exchange *state, int block, MPI_Request *request) {
    return MPI_Send_init(find_block_start(call->buffers.send, call, block), call->message.count, call->message.type,
                         state->ranks[block], block, call->peers.comm, request);
}

static int irecv(struct call *call, const struct exchange *state, int block, MPI_Request *request) {
    return MPI_Irecv(find_block_start(call->buffers.receive, call, block), call->message.count, call->message.type,
                     state->ranks[block], state->mirrors[block], call->peers.comm, request);
}

static int recv_init(struct call *call, const struct exchange *state, int block, MPI_Request *request) {
    return MPI_Recv_init(find_block_start(call->buffers.receive, call, block), call->message.count, call->message.type,
                         state->ranks[block], state->mirrors[block], call->peers.comm, request);
}

static int receive(struct call *call, const struct exchange *state, int block, MPI_Request *request) {
    (void)request;
    return MPI_Recv(find_block_start(call->buffers.receive, call, block), call->message.count, call->message.type,
                    state->ranks[block], state->mirrors[block], call->peers.comm, next_receipt(call));
}

/* --- all of them --- */

static inline int for_each_neighbour(struct call *call, message *act, MPI_Request *requests) {
    const struct exchange *state = get_exchange(call);
    int code = MPI_SUCCESS;
    for (int block = 0; block < state->count && !code; block++)
        code = act(call, state, block, &requests[block]);
    return code;
}

static int blocking(struct call *call) {
    int code = for_each_neighbour(call, isend, call->window.requests);
    if (!code)
        code = for_each_neighbour(call, receive, NULL);
    return code ? code : MPI_Waitall(get_exchange(call)->count, call->window.requests, MPI_STATUSES_IGNORE);
}

static int nonblocking(struct call *call) {
    const int code = for_each_neighbour(call, irecv, call->window.requests);
    return code ? code : for_each_neighbour(call, isend, call->window.requests + get_exchange(call)->count);
}

static int persistent(struct call *call) {
    const int code = for_each_neighbour(call, recv_init, call->window.requests);
    return code ? code : for_each_neighbour(call, send_init, call->window.requests + get_exchange(call)->count);
}

/* --- before and after --- */

static int make_state(struct call *call, int64_t ranks, int count) {
    struct exchange *state = call->state = try_memory(sizeof *state);
    if (!state)
        return MPI_ERR_NO_MEM;
    *state = (struct exchange){.count = count, .replaced = call->window.requests};
    for (int block = 0; block < count; block++) {
        state->mirrors[block] = count == 1 ? block : block ^ 1;
        state->requests[block] = state->requests[count + block] = MPI_REQUEST_NULL;
    }
    call->window.requests = state->requests;
    call->window.pending = 2 * count;
    call->moved.messages = ranks * count;
    call->moved.bytes = call->moved.messages * call->message.bytes;
    return MPI_SUCCESS;
}

/* Receives complete before sends, in one call unless they block. */
static int expect_messages(struct call *call) {
    const struct exchange *state = get_exchange(call);
    const int code =
        make_receipts(call, call->form == BLOCKING ? state->count : 2 * state->count, state->count, call->message.type);
    for (int block = 0; block < state->count && !code; block++)
        expect_receipt(call, block, (struct receipt){state->ranks[block], state->mirrors[block], call->message.count});
    return code;
}

static int prepare_pair(struct call *call) {
    const int code = make_state(call, 2, 1);
    struct exchange *state = call->state;
    if (code)
        return code;
    state->ranks[0] = find_other(call);
    return expect_messages(call);
}

static int prepare_chain(struct call *call) {
    const int code = make_state(call, call->peers.ranks, 2);
    struct exchange *state = call->state;
    if (code)
        return code;
    state->ranks[0] = (call->peers.rank + call->peers.ranks - 1) % call->peers.ranks;
    state->ranks[1] = (call->peers.rank + 1) % call->peers.ranks;
    return expect_messages(call);
}

static int prepare_halo(struct call *call) {
    struct grid grid = {.layout = {.ranks = 0}};
    int code = choose_grid(call, &grid);
    if (!code)
        code = make_state(call, call->peers.ranks, 2 * grid.layout.dimensions);
    if (code)
        return code;
    struct exchange *state = call->state;
    const struct neighbours neighbours = list_neighbours(&grid, call->peers.rank);
    memcpy(state->ranks, neighbours.ranks, sizeof state->ranks);
    state->layout = grid.layout;
    call->layout = &state->layout;
    return expect_messages(call);
}

static void finish(struct call *call) {
    if (call->state)
        call->window.requests = get_exchange(call)->replaced;
    free_state(call);
}

/* Data differ between blocks, so that a block in place of another is detected. */
static unsigned find_stream(const struct call *call, int from, int block) {
    return call->seed + (unsigned)(from * MOST_NEIGHBOURS + block);
}

static void fill(struct call *call) {
    for (int block = 0; block < get_exchange(call)->count; block++)
        fill_bytes(call->buffers.send + block * call->message.bytes, call->message.bytes,
                   find_stream(call, call->peers.rank, block));
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct exchange *state = get_exchange(call);
    for (int block = 0; block < state->count; block++)
        check_bytes(call->buffers.receive + block * call->message.bytes, call->message.bytes,
                    find_stream(call, state->ranks[block], state->mirrors[block]), block * call->message.bytes, mismatch);
}

#define AT_ONCE \
    POINT_TO_POINT, .standard = "MPI-4.1 3.7", .metric = METRIC_TIME, SENDS({.base = 1, .per_message = true}), \
        RECEIVES({.base = 1, .per_message = true}), .timing.threads = true, .timing.start = "window", \
                                                    .forms = {blocking, nonblocking, persistent}, .hooks.finish = finish, \
                                                    .hooks.fill = fill, .hooks.check = check

static const struct operation pingping = {
    .name = "pingping",
    .help = "two ranks send each other a message at the same time, until both have received",
    AT_ONCE,
    .data.messages = 1,
    .ranks.between_two = true,
    .hooks.prepare = prepare_pair,
};

static const struct operation exchange = {
    .name = "exchange",
    .help = "every rank exchanges messages with both neighbours in the ring of all ranks, until it has received both",
    AT_ONCE,
    .data.messages = 2,
    .ranks.least = 2,
    .hooks.prepare = prepare_chain,
};

static const struct operation halo = {
    .name = "halo",
    .help = "every rank exchanges messages with all neighbours on a periodic grid, until it has received all",
    AT_ONCE,
    .hooks.count_messages = count_neighbours,
    .ranks.least = 2,
    CHOICES(&dimensions_choice, &grid_choice),
    .hooks.takes = count_grid_ranks,
    .hooks.prepare = prepare_halo,
};
REGISTER(operation, pingping);
REGISTER(operation, exchange);
REGISTER(operation, halo);
