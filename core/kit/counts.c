#include "kit/counts.h"

#include "base/allocation.h"
#include "base/choices.h"
#include "kit/data.h"

enum { EQUAL, UNEQUAL };

const struct choice counts_choice = {
    .name = "counts",
    .help = "equal blocks, or blocks from 0 to twice the message size in equal steps, with the same total",
    NAMES_OF("equal", "unequal"),
};

/* The i-th smallest and the i-th largest block together have the size of two equal ones, so that the sum is exact. */
static int count_unequal_elements(const struct call *call, int step) {
    const int last = call->peers.ranks - 1;
    if (2 * step > last)
        return 2 * call->message.count - count_unequal_elements(call, last - step);
    return 2 * step == last ? call->message.count : (int)(2L * call->message.count * step / last);
}

static int count_elements(const struct call *call, int step) {
    return read_choice(call, &counts_choice) == UNEQUAL ? count_unequal_elements(call, step % call->peers.ranks)
                                                        : call->message.count;
}

static long count_element_bytes(const struct call *call, long block_bytes) {
    return call->message.count == 0 ? 0 : block_bytes / call->message.count;
}

/* One allocation: the struct, and its arrays behind it. */
static struct counts *allocate_counts(int ranks) {
    const size_t blocks = (size_t)ranks;
    struct counts *counts = try_memory(sizeof *counts + blocks * (sizeof *counts->types + 3 * sizeof(int)));
    if (counts) {
        counts->types = (MPI_Datatype *)(counts + 1);
        counts->elements = (int *)(counts->types + blocks);
        counts->places = counts->elements + blocks;
        counts->byte_places = counts->places + blocks;
    }
    return counts;
}

static int prepare_counts(struct call *call, int first_step) {
    struct counts *counts = call->state = allocate_counts(call->peers.ranks);
    if (!counts)
        return MPI_ERR_NO_MEM;
    for (int block = 0, place = 0; block < call->peers.ranks; block++) {
        counts->elements[block] = count_elements(call, first_step + block);
        counts->places[block] = place;
        counts->byte_places[block] = (int)(place * count_element_bytes(call, call->message.extent));
        counts->types[block] = call->message.type;
        place += counts->elements[block];
    }
    counts->local_elements = counts->elements[call->peers.rank];
    return MPI_SUCCESS;
}

/* The buffers have room for more than is moved. */
static void set_moved(struct call *call, int receivers) {
    call->moved.bytes = (int64_t)receivers * call->peers.ranks * call->message.bytes;
    call->moved.messages = (int64_t)receivers * call->peers.ranks;
}

int prepare_rank_counts(struct call *call) {
    set_moved(call, call->peers.ranks);
    return prepare_counts(call, 0);
}

int prepare_single_counts(struct call *call) {
    set_moved(call, 1);
    return prepare_counts(call, 0);
}

/* Ranks i and j send each other equal amounts, as MPI_IN_PLACE needs, and every rank has the same total. */
int prepare_pair_counts(struct call *call) {
    return prepare_counts(call, call->peers.rank);
}

const char *refuse_counts(const struct call *call) {
    if (read_choice(call, &counts_choice) == UNEQUAL && call->message.datatype->make)
        return "a message of a derived datatype is one element, which cannot be divided: counts=unequal needs a basic datatype";
    if ((int64_t)call->message.count * call->peers.ranks > INT32_MAX)
        return "the displacements of the blocks, in elements, exceed an int";
    return NULL;
}

struct span find_block(const struct call *call, int block) {
    const struct counts *counts = get_counts(call);
    const long element = count_element_bytes(call, call->message.bytes);
    if (!counts)
        return (struct span){block * call->message.bytes, call->message.bytes};
    return (struct span){counts->places[block] * element, counts->elements[block] * element};
}

void fill_own_block(struct call *call) {
    fill_bytes(call->buffers.send, find_block(call, call->peers.rank).bytes, call->seed + (unsigned)call->peers.rank);
}

void check_all_blocks(const struct call *call, struct mismatch *mismatch) {
    for (int rank = 0; rank < call->peers.ranks; rank++) {
        const struct span span = find_block(call, rank);
        check_bytes(call->buffers.receive + span.at, span.bytes, call->seed + (unsigned)rank, span.at, mismatch);
    }
}
