/* The rings of a periodic grid, all at once: in each ring the sum of its ranks goes round once.
 *
 *   hop 1        hop 2          hop 3
 *   a -> b       a+b -> c       a+b+c -> a         and the messages of b and c alike
 *
 * Every rank sends a message that begins with its number, adds its number to each message that it passes on, and gets its
 * own back with the sum after as many hops as the ring has ranks. The rest of the message must be unchanged. The first
 * rank of each ring, at the edge of the grid, times the rounds. The rows differ in how a hop is made. */
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "base/numbers.h"
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/neighbours.h"
#include "kit/receipts.h"

enum { TAG = 1, IN = 0, OUT = 1, ENDS = 2, NUMBER_BYTES = 4, LINE = 64 };
enum { BEFORE, TIMED };
enum { STAYS, REORDERS };
enum { FENCE, PSCW };
enum { IN_RING, ON_GRID };
/* Buffer that a hop sends from: the core's on the first hop; then the one of the hop before. */
enum { FROM_OWN, FROM_SPARE, FROM_LAST, KINDS_OF_HOP };

struct ring;

/* One hop: sends one buffer to the next rank, and receives another from the rank before. */
typedef int hop(struct call *, struct ring *, int which, const unsigned char *from, unsigned char *into);

struct ring {
    struct neighbourhood on;
    hop *hop;
    int place, dimension, displacement;
    int next, previous;
    bool shifts;
    /* Buffers used alternately; that of the last hop is checked by the core. */
    unsigned char *spare, *last;
    MPI_Request requests[KINDS_OF_HOP][ENDS];
    /* Communicator of neighbourhood collectives, and the elements sent to and received from each neighbour. */
    MPI_Comm graph;
    int out[MOST_NEIGHBOURS], in[MOST_NEIGHBOURS], places[MOST_NEIGHBOURS];
    /* Window of two messages, and the groups of both neighbours. */
    MPI_Win window;
    MPI_Group behind, before;
    int *order;
    /* Rounds so far: each has a different sum, so that an old one is detected. */
    uint32_t turn, expected;
    struct mismatch mismatch;
};

static struct ring *get_ring(const struct call *call) {
    return call->state;
}

/* --- choices --- */

static const char *const directions[] = {"right", "left", "down", "up", "0+", "0-", "1+", "1-", "2+",
                                         "2-",    "3+",   "3-",   "4+", "4-", "5+", "5-", NULL};
enum { DOWN = 2, BY_NUMBER = 4 };

static const struct choice direction_choice = {
    .name = "direction",
    .help = "direction: right or left in the last dimension, down or up in the one before it, or dimension and sign",
    .names = directions,
};

static const struct choice displacement_choice = {
    .name = "displacement",
    .help = "distance on the grid from one rank of a ring to the next",
    .least = 1,
    .most = MOST_EXTENT,
    .usual = 1,
};

static const struct choice shift_choice = {
    .name = "shift",
    .help = "calls of MPI_Cart_shift: once before, or in every round, timed",
    NAMES_OF("before", "timed"),
};

static const struct choice reorder_choice = {
    .name = "reorder",
    .help = "whether the library may reorder ranks on the grid",
    NAMES_OF("no", "yes"),
};

/* On a grid most neighbours exchange nothing; not all libraries support that. */
static const struct choice neighbours_choice = {
    .name = "graph",
    .help = "neighbours: those in the ring (distributed), or all on the grid, most of which get nothing (cartesian)",
    NAMES_OF("distributed", "cartesian"),
};

static const struct choice epoch_choice = {
    .name = "epoch",
    .help = "what ends a hop: a fence of all ranks, or complete and wait with the neighbours",
    NAMES_OF("fence", "pscw"),
};

static int64_t read_direction(const struct call *call) {
    return read_choice(call, &direction_choice);
}

static int find_dimension(const struct call *call) {
    const int64_t direction = read_direction(call);
    const int last = count_neighbours(call) / 2 - 1;
    return direction >= BY_NUMBER ? (int)(direction - BY_NUMBER) / 2 : direction >= DOWN ? last - 1 : last;
}

static int find_sign(const struct call *call) {
    return read_direction(call) % 2 ? -1 : 1;
}

static const char *refuse_direction(const struct call *call) {
    const int dimension = find_dimension(call);
    if (dimension < 0)
        return "up and down need a grid with two or more dimensions";
    if (dimension >= count_neighbours(call) / 2)
        return "the grid has no such dimension";
    if (read_choice(call, &shift_choice) == TIMED && call->form == PERSISTENT)
        return "shift=timed has no effect on persistent requests, whose ranks are fixed";
    return NULL;
}

static const char *refuse_shift(const struct call *call) {
    const char *why = refuse_direction(call);
    if (!why && read_choice(call, &shift_choice) == TIMED)
        return "shift=timed has no effect on neighbourhood collectives, which take no ranks";
    if (!why && read_choice(call, &neighbours_choice) == ON_GRID && read_choice(call, &displacement_choice) != 1)
        return "displacement needs graph=distributed: on a grid only adjacent ranks are neighbours";
    return why;
}

/* --- who is in the ring --- */

static int find_extent(const struct ring *ring) {
    return ring->on.grid.layout.extents[ring->dimension];
}

static int find_coordinate(const struct ring *ring, int place) {
    return place / find_stride(&ring->on.grid.layout, ring->dimension) % find_extent(ring);
}

static int find_place_after(const struct ring *ring, int hops) {
    const int extent = find_extent(ring), from = find_coordinate(ring, ring->place);
    const int to = (int)(((int64_t)from + (int64_t)hops * ring->displacement) % extent + extent) % extent;
    return ring->place + (to - from) * find_stride(&ring->on.grid.layout, ring->dimension);
}

static bool is_edge(const struct call *call) {
    const struct ring *ring = get_ring(call);
    return find_coordinate(ring, ring->place) < gcd(find_extent(ring), abs(ring->displacement) % find_extent(ring));
}

static uint32_t find_number(const struct ring *ring, int place) {
    return (uint32_t)place + ring->turn;
}

static void expect_sum(struct ring *ring) {
    ring->expected = 0;
    for (int hops = 0; hops < ring->on.grid.layout.hops; hops++)
        ring->expected += find_number(ring, find_place_after(ring, hops));
}

/* --- hops --- */

static int shift(struct ring *ring) {
    return MPI_Cart_shift(ring->on.new_comm.comm, ring->dimension, ring->displacement, &ring->previous, &ring->next);
}

static int sendrecv(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    (void)which;
    return MPI_Sendrecv(from, call->message.count, call->message.type, ring->next, TAG, into, call->message.count,
                        call->message.type, ring->previous, TAG, ring->on.new_comm.comm, next_receipt(call));
}

static int exchange(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    MPI_Request *const requests = ring->requests[which];
    int code =
        MPI_Irecv(into, call->message.count, call->message.type, ring->previous, TAG, ring->on.new_comm.comm, &requests[IN]);
    if (!code)
        code = MPI_Isend(from, call->message.count, call->message.type, ring->next, TAG, ring->on.new_comm.comm, &requests[OUT]);
    return code ? code : MPI_Waitall(ENDS, requests, next_receipts(call, ENDS));
}

static int start_both(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    (void)from, (void)into;
    const int code = MPI_Startall(ENDS, ring->requests[which]);
    return code ? code : MPI_Waitall(ENDS, ring->requests[which], next_receipts(call, ENDS));
}

static int alltoall(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    (void)which;
    return MPI_Neighbor_alltoallv(from, ring->out, ring->places, call->message.type, into, ring->in, ring->places,
                                  call->message.type, ring->graph);
}

static int ialltoall(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    MPI_Request *const request = ring->requests[which];
    const int code = MPI_Ineighbor_alltoallv(from, ring->out, ring->places, call->message.type, into, ring->in, ring->places,
                                             call->message.type, ring->graph, request);
    return code ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int start_alltoall(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    (void)call, (void)from, (void)into;
    const int code = MPI_Start(ring->requests[which]);
    return code ? code : MPI_Wait(ring->requests[which], MPI_STATUS_IGNORE);
}

static int put(struct call *call, struct ring *ring, const unsigned char *from, const unsigned char *into) {
    return MPI_Put(from, call->message.count, call->message.type, ring->next, into - ring->last, call->message.count,
                   call->message.type, ring->window);
}

static int put_and_fence(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    (void)which;
    const int code = put(call, ring, from, into);
    return code ? code : MPI_Win_fence(0, ring->window);
}

static int put_and_complete(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    (void)which;
    int code = MPI_Win_post(ring->before, 0, ring->window);
    if (!code)
        code = MPI_Win_start(ring->behind, 0, ring->window);
    if (!code)
        code = put(call, ring, from, into);
    if (!code)
        code = MPI_Win_complete(ring->window);
    return code ? code : MPI_Win_wait(ring->window);
}

/* --- rounds --- */

static void add(const struct call *call, unsigned char *message, uint32_t number) {
    uint32_t sum;
    if (call->message.bytes < NUMBER_BYTES)
        return;
    memcpy(&sum, message, sizeof sum);
    sum += number;
    memcpy(message, &sum, sizeof sum);
}

static int run_round(struct call *call) {
    struct ring *ring = get_ring(call);
    const uint32_t number = find_number(ring, ring->place);
    const unsigned char *from = call->buffers.send;
    int which = FROM_OWN, code = ring->shifts ? shift(ring) : MPI_SUCCESS;
    for (int remaining = ring->on.grid.layout.hops; remaining > 0 && !code; remaining--) {
        unsigned char *const into = remaining % 2 ? ring->last : ring->spare;
        code = ring->hop(call, ring, which, from, into);
        if (remaining > 1)
            add(call, into, number);
        which = remaining % 2 ? FROM_LAST : FROM_SPARE;
        from = into;
    }
    return code;
}

static int before(struct call *call) {
    struct ring *ring = get_ring(call);
    const uint32_t number = find_number(ring, ring->place) + 1;
    ring->turn++;
    ring->expected += (uint32_t)ring->on.grid.layout.hops;
    if (call->message.bytes >= NUMBER_BYTES)
        memcpy(call->buffers.send, &number, sizeof number);
    return MPI_SUCCESS;
}

/* The sum of every round is checked; a wrong one is kept until data are checked. */
static int after(struct call *call) {
    struct ring *ring = get_ring(call);
    if (call->message.bytes < NUMBER_BYTES)
        return MPI_SUCCESS;
    const unsigned char *const right = (const unsigned char *)&ring->expected;
    for (int i = 0; i < NUMBER_BYTES; i++)
        if (ring->last[i] != right[i] && ring->mismatch.wrong_bytes++ == 0) {
            ring->mismatch.offset = i;
            ring->mismatch.expected = right[i];
            ring->mismatch.actual = ring->last[i];
        }
    return MPI_SUCCESS;
}

static unsigned find_stream(const struct call *call) {
    return call->seed + (unsigned)get_ring(call)->place;
}

static void fill(struct call *call) {
    if (call->message.bytes > NUMBER_BYTES)
        fill_bytes(call->buffers.send + NUMBER_BYTES, call->message.bytes - NUMBER_BYTES, find_stream(call));
}

static void check(const struct call *call, struct mismatch *mismatch) {
    *mismatch = get_ring(call)->mismatch;
    if (call->message.bytes > NUMBER_BYTES)
        check_bytes(call->buffers.receive + NUMBER_BYTES, call->message.bytes - NUMBER_BYTES, find_stream(call), NUMBER_BYTES,
                    mismatch);
}

/* --- before and after --- */

/* Reads the rank of the team at each place, from groups, since no other rank calls this. */
static int read_order(struct call *call, struct ring *ring) {
    MPI_Group team = MPI_GROUP_NULL, grid = MPI_GROUP_NULL;
    const int ranks = ring->on.grid.layout.ranks;
    int *const places = try_memory(2 * (size_t)ranks * sizeof *places), *const numbers = places + ranks;
    if (!places)
        return MPI_ERR_NO_MEM;
    ring->order = places;
    for (int place = 0; place < ranks; place++)
        numbers[place] = place;
    int code = MPI_Comm_group(call->peers.members, &team);
    if (!code)
        code = MPI_Comm_group(ring->on.new_comm.comm, &grid);
    if (!code)
        code = MPI_Group_translate_ranks(grid, ranks, numbers, team, places);
    if (!code && memcmp(places, numbers, (size_t)ranks * sizeof *places) != 0)
        ring->on.grid.layout.order = places;
    free_group(&team);
    free_group(&grid);
    return code;
}

static int make_grid(struct call *call, struct ring *ring) {
    struct layout *layout = &ring->on.grid.layout;
    const int reorders = read_choice(call, &reorder_choice) == REORDERS;
    int code = choose_grid(call, &ring->on.grid);
    if (!code)
        code = MPI_Cart_create(call->peers.members, layout->dimensions, layout->extents, ring->on.grid.periods, reorders,
                               &ring->on.new_comm.comm);
    if (!code)
        code = MPI_Comm_rank(ring->on.new_comm.comm, &ring->place);
    return code ? code : read_order(call, ring);
}

static int find_ring(struct call *call, struct ring *ring) {
    struct layout *layout = &ring->on.grid.layout;
    ring->dimension = find_dimension(call);
    ring->displacement = find_sign(call) * (int)read_choice(call, &displacement_choice);
    layout->hops = find_extent(ring) / gcd(find_extent(ring), abs(ring->displacement) % find_extent(ring));
    call->layout = layout;
    call->moved.messages = (int64_t)layout->ranks * layout->hops;
    call->moved.bytes = call->moved.messages * call->message.bytes;
    expect_sum(ring);
    return shift(ring);
}

static int prepare(struct call *call, hop *const forms[FORMS]) {
    int code = make_new_comm_state(call, sizeof(struct ring));
    if (code)
        return code;
    struct ring *ring = get_ring(call);
    ring->hop = forms[call->form];
    ring->shifts = read_choice(call, &shift_choice) == TIMED;
    ring->window = MPI_WIN_NULL;
    ring->graph = MPI_COMM_NULL;
    ring->behind = ring->before = MPI_GROUP_NULL;
    for (int which = 0; which < KINDS_OF_HOP; which++)
        ring->requests[which][OUT] = ring->requests[which][IN] = MPI_REQUEST_NULL;
    code = make_grid(call, ring);
    return code ? code : find_ring(call, ring);
}

static int allocate_spare(struct call *call, struct ring *ring) {
    ring->last = call->buffers.receive;
    ring->spare = try_aligned_memory(LINE, (size_t)(call->message.bytes / LINE + 1) * LINE);
    return ring->spare ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Calls `act` for each kind of hop with its buffers. */
static int for_each_hop(struct call *call, struct ring *ring, hop *act) {
    unsigned char *const first = ring->on.grid.layout.hops % 2 ? ring->last : ring->spare;
    int code = act(call, ring, FROM_OWN, call->buffers.send, first);
    if (!code)
        code = act(call, ring, FROM_SPARE, ring->spare, ring->last);
    return code ? code : act(call, ring, FROM_LAST, ring->last, ring->spare);
}

static int make_requests(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    MPI_Request *const requests = ring->requests[which];
    const int code =
        MPI_Recv_init(into, call->message.count, call->message.type, ring->previous, TAG, ring->on.new_comm.comm, &requests[IN]);
    return code ? code
                : MPI_Send_init(from, call->message.count, call->message.type, ring->next, TAG, ring->on.new_comm.comm,
                                &requests[OUT]);
}

static int expect_messages(struct call *call, const struct ring *ring) {
    const int code = make_receipts(call, call->form == BLOCKING ? 1 : ENDS, 1, call->message.type);
    if (!code)
        expect_receipt(call, IN, (struct receipt){ring->previous, TAG, call->message.count});
    return code;
}

static int prepare_messages(struct call *call) {
    static hop *const forms[FORMS] = {sendrecv, exchange, start_both};
    int code = prepare(call, forms);
    if (!code)
        code = expect_messages(call, get_ring(call));
    if (!code)
        code = allocate_spare(call, get_ring(call));
    return code || call->form != PERSISTENT ? code : for_each_hop(call, get_ring(call), make_requests);
}

/* On the grid each rank has two neighbours per dimension: it sends to one and receives from the other. */
static int use_grid(struct call *call, struct ring *ring) {
    const int ahead = find_sign(call) > 0;
    ring->out[2 * ring->dimension + ahead] = call->message.count;
    ring->in[2 * ring->dimension + !ahead] = call->message.count;
    return MPI_Comm_dup(ring->on.new_comm.comm, &ring->graph);
}

/* Made of a communicator without a grid, since Open MPI 5.0 uses the grid instead of the new graph otherwise. */
static int use_graph(struct call *call, struct ring *ring) {
    int *volatile weights = MPI_UNWEIGHTED;
    MPI_Comm plain;
    int code = MPI_Comm_split(ring->on.new_comm.comm, 0, ring->place, &plain);
    if (code)
        return code;
    ring->out[0] = ring->in[0] = call->message.count;
    code = MPI_Dist_graph_create_adjacent(plain, 1, &ring->previous, weights, 1, &ring->next, weights, MPI_INFO_NULL, 0,
                                          &ring->graph);
    MPI_Comm_free(&plain);
    return code;
}

static int init_alltoall(struct call *call, struct ring *ring, int which, const unsigned char *from, unsigned char *into) {
    return MPI_Neighbor_alltoallv_init(from, ring->out, ring->places, call->message.type, into, ring->in, ring->places,
                                       call->message.type, ring->graph, MPI_INFO_NULL, ring->requests[which]);
}

static int prepare_neighbours_of_ring(struct call *call) {
    static hop *const forms[FORMS] = {alltoall, ialltoall, start_alltoall};
    int code = prepare(call, forms);
    struct ring *ring = get_ring(call);
    if (!code)
        code = read_choice(call, &neighbours_choice) == ON_GRID ? use_grid(call, ring) : use_graph(call, ring);
    if (!code)
        code = allocate_spare(call, ring);
    return code || call->form != PERSISTENT ? code : for_each_hop(call, ring, init_alltoall);
}

static int make_groups(struct ring *ring) {
    MPI_Group all;
    int code = MPI_Comm_group(ring->on.new_comm.comm, &all);
    if (code)
        return code;
    code = MPI_Group_incl(all, 1, &ring->next, &ring->behind);
    if (!code)
        code = MPI_Group_incl(all, 1, &ring->previous, &ring->before);
    MPI_Group_free(&all);
    return code;
}

static int prepare_put(struct call *call) {
    static hop *const fences[FORMS] = {put_and_fence}, *const completes[FORMS] = {put_and_complete};
    const bool fenced = read_choice(call, &epoch_choice) == FENCE;
    int code = prepare(call, fenced ? fences : completes);
    struct ring *ring = get_ring(call);
    if (!code)
        code = MPI_Win_allocate(2 * (MPI_Aint)(call->message.bytes + LINE), 1, MPI_INFO_NULL, ring->on.new_comm.comm, &ring->last,
                                &ring->window);
    if (code)
        return code;
    ring->spare = ring->last + call->message.bytes + LINE;
    call->buffers.elsewhere = ring->last;
    return fenced ? MPI_Win_fence(0, ring->window) : make_groups(ring);
}

static void finish(struct call *call) {
    struct ring *ring = get_ring(call);
    if (!ring)
        return;
    for (int which = 0; which < KINDS_OF_HOP; which++)
        free_requests(ring->requests[which], ENDS);
    if (ring->graph != MPI_COMM_NULL)
        MPI_Comm_free(&ring->graph);
    free_group(&ring->behind);
    free_group(&ring->before);
    if (ring->window != MPI_WIN_NULL)
        MPI_Win_free(&ring->window);
    else
        free(ring->spare);
    free(ring->order);
    call->buffers.elsewhere = NULL;
    call->layout = NULL;
    finish_new_comm(call);
}

#define WAYS &direction_choice, &displacement_choice, &dimensions_choice, &grid_choice, &shift_choice, &reorder_choice
#define GOES_ROUND \
    .metric = METRIC_TIME, .timing.start = "none", .data.sized = true, .data.datatypes = WHOLE_NUMBERS, SENDS({.base = 1}), \
    RECEIVES({.base = 1}), .hooks.takes = count_grid_ranks, .hooks.measures = is_edge, .timing.completes = true, \
    .data.keeps_buffers = true, .data.numbers_rounds = true, .hooks.finish = finish, .hooks.before = before, \
    .hooks.after = after, .hooks.fill = fill, .hooks.check = check

static const struct operation ring_row = {
    .name = "ring",
    .help = "the sum over each ring of a periodic grid, passed around once, by MPI_Sendrecv, or MPI_Isend and MPI_Irecv",
    .standard = "MPI-4.1 8.5.6",
    .kind = KIND_POINT_TO_POINT,
    GOES_ROUND,
    CHOICES(WAYS),
    .hooks.refuse = refuse_direction,
    .forms = {run_round, run_round, run_round},
    .hooks.prepare = prepare_messages,
};

static const struct operation ring_neighbor = {
    .name = "ring-neighbor",
    .help = "the sum over each ring of a periodic grid, passed around once, by a neighbourhood collective per hop",
    .standard = "MPI-4.1 8.6.2",
    .kind = KIND_NEIGHBOURHOOD,
    GOES_ROUND,
    CHOICES(&neighbours_choice, WAYS),
    .hooks.refuse = refuse_shift,
    .forms = {run_round, run_round, run_round},
    .hooks.prepare = prepare_neighbours_of_ring,
};

static const struct operation ring_put = {
    .name = "ring-put",
    .help = "the sum over each ring of a periodic grid, passed around once, by MPI_Put to the next rank",
    .standard = "MPI-4.1 12.3.1",
    .kind = KIND_ONE_SIDED,
    GOES_ROUND,
    CHOICES(&epoch_choice, WAYS),
    .hooks.refuse = refuse_direction,
    .forms = {run_round},
    .hooks.prepare = prepare_put,
};
REGISTER(operation, ring_row);
REGISTER(operation, ring_neighbor);
REGISTER(operation, ring_put);
