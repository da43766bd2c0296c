#include "kit/counts.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Scatter(call->buffers.send, call->message.count, call->message.type, call->buffers.receive, call->message.count,
                       call->message.type, call->peers.root, call->peers.comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iscatter(call->buffers.send, call->message.count, call->message.type, call->buffers.receive, call->message.count,
                        call->message.type, call->peers.root, call->peers.comm, call->window.requests);
}

static int persistent(struct call *call) {
    return MPI_Scatter_init(call->buffers.send, call->message.count, call->message.type, call->buffers.receive,
                            call->message.count, call->message.type, call->peers.root, call->peers.comm, MPI_INFO_NULL,
                            call->window.requests);
}

static int blocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Scatterv(call->buffers.send, counts->elements, counts->places, call->message.type, call->buffers.receive,
                        counts->local_elements, call->message.type, call->peers.root, call->peers.comm);
}

static int nonblocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Iscatterv(call->buffers.send, counts->elements, counts->places, call->message.type, call->buffers.receive,
                         counts->local_elements, call->message.type, call->peers.root, call->peers.comm, call->window.requests);
}

static int persistent_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Scatterv_init(call->buffers.send, counts->elements, counts->places, call->message.type, call->buffers.receive,
                             counts->local_elements, call->message.type, call->peers.root, call->peers.comm, MPI_INFO_NULL,
                             call->window.requests);
}

static void fill(struct call *call) {
    for (int rank = 0; rank < call->peers.ranks && call->peers.rank == call->peers.root; rank++) {
        const struct span span = find_block(call, rank);
        fill_bytes(call->buffers.send + span.at, span.bytes, call->seed + (unsigned)rank);
    }
}

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->buffers.receive != MPI_IN_PLACE)
        check_bytes(call->buffers.receive, find_block(call, call->peers.rank).bytes, call->seed + (unsigned)call->peers.rank, 0,
                    mismatch);
}

static const struct operation scatter = {
    .name = "scatter",
    .help = "the root sends a different block to every rank",
    .standard = "MPI-4.1 6.6",
    COLLECTIVE,
    .amounts.root_send = {.each = 1},
    RECEIVES({.base = 1}),
    .data.sized = true,
    .ranks.rooted = true,
    .data.in_place = IN_PLACE_ROOT_KEEPS,
    .forms = {blocking, nonblocking, persistent},
    .hooks.fill = fill,
    .hooks.check = check,
};

static const struct operation scatterv = {
    .name = "scatterv",
    .help = "the root sends a different block to every rank, with a count per rank",
    .standard = "MPI-4.1 6.6",
    COLLECTIVE,
    .amounts.root_send = {.each = 1},
    RECEIVES({.base = 1}),
    .amounts.room = 2,
    .data.sized = true,
    .ranks.rooted = true,
    .data.in_place = IN_PLACE_ROOT_KEEPS,
    COUNTED(prepare_single_counts),
    .hooks.refuse = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, scatter);
REGISTER(operation, scatterv);
