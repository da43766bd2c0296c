/* Partners change with every call. Before each one, untimed, every rank draws the same permutation of all ranks from
 * the same random numbers; partners follow from the places in it. */
#include "base/allocation.h"
#include "base/choices.h"
#include "kit/calls.h"
#include "kit/data.h"
#include "kit/modes.h"
#include "kit/receipts.h"

enum { TAG = 1 };
enum { ONE_WAY, BOTH_WAYS, CORRELATED };

struct drawing {
    int direction;
    uint32_t state;
    int to, from;
    int order[];
};

static const struct choice direction_choice = {
    .name = "direction",
    .help = "between partners, one way or both ways; correlated: every rank sends to one and receives from another",
    NAMES_OF("one-way", "both", "correlated"),
};

static int blocking(struct call *call) {
    const struct drawing *drawing = call->state;
    return MPI_Sendrecv(call->buffers.send, call->message.count, call->message.type, drawing->to, TAG, call->buffers.receive,
                        call->message.count, call->message.type, drawing->from, TAG, call->peers.comm, next_receipt(call));
}

static int nonblocking(struct call *call) {
    const struct drawing *drawing = call->state;
    const int code = MPI_Irecv(call->buffers.receive, call->message.count, call->message.type, drawing->from, TAG,
                               call->peers.comm, &call->window.requests[0]);
    return code ? code
                : MPI_Isend(call->buffers.send, call->message.count, call->message.type, drawing->to, TAG, call->peers.comm,
                            &call->window.requests[1]);
}

/* --- before and after --- */

/* Marsaglia's xorshift: its numbers are never 0. */
static uint32_t draw(struct drawing *drawing) {
    drawing->state ^= drawing->state << 13;
    drawing->state ^= drawing->state >> 17;
    drawing->state ^= drawing->state << 5;
    return drawing->state;
}

/* Returns the place of the rank in the new order. */
static int shuffle(struct drawing *drawing, int ranks, int rank) {
    int place = 0;
    for (int remaining = ranks; remaining > 1; remaining--) {
        const int drawn_place = (int)(draw(drawing) % (uint32_t)remaining), other = drawing->order[remaining - 1];
        drawing->order[remaining - 1] = drawing->order[drawn_place];
        drawing->order[drawn_place] = other;
    }
    while (drawing->order[place] != rank)
        place++;
    return place;
}

/* With an odd number of ranks the last one has no partner. */
static void choose_partner(struct drawing *drawing, int ranks, int place) {
    const bool sends = drawing->direction == BOTH_WAYS || place % 2 == 0,
               receives = drawing->direction == BOTH_WAYS || place % 2 == 1;
    const int partner = (place ^ 1) < ranks ? drawing->order[place ^ 1] : MPI_PROC_NULL;
    drawing->to = sends ? partner : MPI_PROC_NULL;
    drawing->from = receives ? partner : MPI_PROC_NULL;
}

static void choose_neighbours(struct drawing *drawing, int ranks, int place) {
    drawing->to = drawing->order[(place + 1) % ranks];
    drawing->from = drawing->order[(place + ranks - 1) % ranks];
}

static int before(struct call *call) {
    struct drawing *drawing = call->state;
    const int place = shuffle(drawing, call->peers.ranks, call->peers.rank);
    if (drawing->direction == CORRELATED)
        choose_neighbours(drawing, call->peers.ranks, place);
    else
        choose_partner(drawing, call->peers.ranks, place);
    const bool receives = drawing->from != MPI_PROC_NULL;
    expect_receipt(call, 0, (struct receipt){drawing->from, receives ? TAG : MPI_ANY_TAG, receives ? call->message.count : 0});
    return MPI_SUCCESS;
}

static int prepare(struct call *call) {
    static const int64_t senders_per_two[] = {[ONE_WAY] = 1, [BOTH_WAYS] = 2, [CORRELATED] = 2};
    struct drawing *drawing = call->state = try_memory(sizeof *drawing + sizeof *drawing->order * (size_t)call->peers.ranks);
    if (!drawing)
        return MPI_ERR_NO_MEM;
    drawing->direction = (int)read_choice(call, &direction_choice);
    drawing->state = 1;
    for (int rank = 0; rank < call->peers.ranks; rank++)
        drawing->order[rank] = rank;
    call->window.pending = call->form == BLOCKING ? 1 : 2;
    call->moved.messages =
        drawing->direction == CORRELATED ? call->peers.ranks : call->peers.ranks / 2 * senders_per_two[drawing->direction];
    call->moved.bytes = call->moved.messages * call->message.bytes;
    return make_receipts(call, call->window.pending, 1, call->message.type);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct drawing *drawing = call->state;
    if (drawing->from != MPI_PROC_NULL)
        check_from(call, drawing->from, mismatch);
}

static const struct operation random_pairs = {
    .name = "random-pairs",
    .help = "every rank exchanges a message with a random partner, a new one for each call, until it has received",
    .standard = "MPI-4.1 3.10",
    POINT_TO_POINT,
    .metric = METRIC_TIME,
    SENDS({.base = 1}),
    RECEIVES({.base = 1}),
    .ranks.least = 2,
    .timing.start = "window",
    CHOICES(&direction_choice),
    .forms = {blocking, nonblocking},
    .hooks.prepare = prepare,
    .hooks.finish = free_state,
    .hooks.before = before,
    .hooks.fill = fill_own,
    .hooks.check = check,
};
REGISTER(operation, random_pairs);
