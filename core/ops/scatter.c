#include "kit/counts.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Scatter(call->send, call->count, call->type, call->receive, call->count, call->type, call->root, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iscatter(call->send, call->count, call->type, call->receive, call->count, call->type, call->root, call->comm,
                        call->requests);
}

static int persistent(struct call *call) {
    return MPI_Scatter_init(call->send, call->count, call->type, call->receive, call->count, call->type, call->root, call->comm,
                            MPI_INFO_NULL, call->requests);
}

static int blocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Scatterv(call->send, counts->elements, counts->places, call->type, call->receive, counts->local_elements,
                        call->type, call->root, call->comm);
}

static int nonblocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Iscatterv(call->send, counts->elements, counts->places, call->type, call->receive, counts->local_elements,
                         call->type, call->root, call->comm, call->requests);
}

static int persistent_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Scatterv_init(call->send, counts->elements, counts->places, call->type, call->receive, counts->local_elements,
                             call->type, call->root, call->comm, MPI_INFO_NULL, call->requests);
}

static void fill(struct call *call) {
    for (int rank = 0; rank < call->ranks && call->rank == call->root; rank++) {
        const struct span span = block_of(call, rank);
        fill_bytes(call->send + span.at, span.bytes, call->seed + (unsigned)rank);
    }
}

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->receive != MPI_IN_PLACE)
        check_bytes(call->receive, block_of(call, call->rank).bytes, call->seed + (unsigned)call->rank, 0, mismatch);
}

static const struct operation scatter = {
    .name = "scatter",
    .help = "the root sends a block of its own to every rank",
    .standard = "MPI-4.1 6.6",
    COLLECTIVE,
    .root_send = {.each = 1},
    RECEIVES({.base = 1}),
    .sized = true,
    .rooted = true,
    .in_place = IN_PLACE_ROOT_KEEPS,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill,
    .check = check,
};

static const struct operation scatterv = {
    .name = "scatterv",
    .help = "the root sends a block of its own to every rank, as much as the rank's count says",
    .standard = "MPI-4.1 6.6",
    COLLECTIVE,
    .root_send = {.each = 1},
    RECEIVES({.base = 1}),
    .room = 2,
    .sized = true,
    .rooted = true,
    .in_place = IN_PLACE_ROOT_KEEPS,
    COUNTED(prepare_single_counts),
    .refuses = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
    .fill = fill,
    .check = check,
};
REGISTER(operation, scatter);
REGISTER(operation, scatterv);
