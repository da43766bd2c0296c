/* Partners change from call to call. Before each, and untimed, every rank draws the same order of all ranks from the same
 * numbers; who is whose partner follows from the places in it. */
#include <stdlib.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "kit/data.h"
#include "kit/modes.h"

enum { TAG = 1 };
enum { ONE_WAY, BOTH_WAYS, CORRELATED };

struct drawing {
    int direction;
    uint32_t state;
    /* MPI_PROC_NULL: nobody. */
    int to, from;
    int order[];
};

static const struct choice direction_choice = {
    .name = "direction",
    .help = "between partners, one way or both; or correlated: every rank sends to one and receives from another",
    NAMES_OF("one-way", "both", "correlated"),
};

static int blocking(struct call *call) {
    const struct drawing *drawing = call->state;
    return MPI_Sendrecv(call->send, call->count, call->type, drawing->to, TAG, call->receive, call->count, call->type,
                        drawing->from, TAG, call->comm, MPI_STATUS_IGNORE);
}

static int nonblocking(struct call *call) {
    const struct drawing *drawing = call->state;
    const int code = MPI_Irecv(call->receive, call->count, call->type, drawing->from, TAG, call->comm, &call->requests[0]);
    return code ? code : MPI_Isend(call->send, call->count, call->type, drawing->to, TAG, call->comm, &call->requests[1]);
}

/* --- before and after --- */

/* Marsaglia's xorshift: its numbers are never 0. */
static uint32_t draw(struct drawing *drawing) {
    drawing->state ^= drawing->state << 13;
    drawing->state ^= drawing->state >> 17;
    drawing->state ^= drawing->state << 5;
    return drawing->state;
}

/* Returns where in the new order the rank is. */
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

/* Of an odd number of ranks the last in the order has no partner. */
static void pair(struct drawing *drawing, int ranks, int place) {
    const bool sends = drawing->direction == BOTH_WAYS || place % 2 == 0,
               receives = drawing->direction == BOTH_WAYS || place % 2 == 1;
    const int partner = (place ^ 1) < ranks ? drawing->order[place ^ 1] : MPI_PROC_NULL;
    drawing->to = sends ? partner : MPI_PROC_NULL;
    drawing->from = receives ? partner : MPI_PROC_NULL;
}

static int before(struct call *call) {
    struct drawing *drawing = call->state;
    const int place = shuffle(drawing, call->ranks, call->rank);
    if (drawing->direction != CORRELATED) {
        pair(drawing, call->ranks, place);
        return MPI_SUCCESS;
    }
    drawing->to = drawing->order[(place + 1) % call->ranks];
    drawing->from = drawing->order[(place + call->ranks - 1) % call->ranks];
    return MPI_SUCCESS;
}

static int prepare(struct call *call) {
    static const int64_t senders_per_two[] = {[ONE_WAY] = 1, [BOTH_WAYS] = 2, [CORRELATED] = 2};
    struct drawing *drawing = call->state = ask_memory(sizeof *drawing + sizeof *drawing->order * (size_t)call->ranks);
    if (!drawing)
        return MPI_ERR_NO_MEM;
    drawing->direction = (int)chosen(call, &direction_choice);
    drawing->state = 1;
    for (int rank = 0; rank < call->ranks; rank++)
        drawing->order[rank] = rank;
    call->pending = 2;
    call->moved_messages = drawing->direction == CORRELATED ? call->ranks : call->ranks / 2 * senders_per_two[drawing->direction];
    call->moved_bytes = call->moved_messages * call->bytes;
    return MPI_SUCCESS;
}

static void finish(struct call *call) {
    free(call->state);
    call->state = NULL;
}

static void fill(struct call *call) {
    fill_bytes(call->send, call->send_bytes, call->seed + (unsigned)call->rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct drawing *drawing = call->state;
    if (drawing->from != MPI_PROC_NULL)
        check_bytes(call->receive, call->receive_bytes, call->seed + (unsigned)drawing->from, 0, mismatch);
}

static const struct operation random_pairs = {
    .name = "random-pairs",
    .help = "every rank exchanges a message with a partner drawn anew for each call, until it has received",
    .standard = "MPI-4.1 3.10",
    POINT_TO_POINT,
    .metric = "time",
    SENDS({.base = 1}),
    RECEIVES({.base = 1}),
    .ranks_least = 2,
    .start = "window",
    CHOICES(&direction_choice),
    .forms = {blocking, nonblocking},
    .prepare = prepare,
    .finish = finish,
    .before = before,
    .fill = fill,
    .check = check,
};
REGISTER(operation, random_pairs);
