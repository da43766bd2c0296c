#include "kit/counts.h"
#include "kit/data.h"

ALL_FORMS(, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, call->buffers.send, call->message.count, call->message.type,
          call->buffers.receive, call->message.count, call->message.type, call->peers.root, call->peers.comm)

ALL_FORMS(_v, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, call->buffers.send, get_counts(call)->elements,
          get_counts(call)->places, call->message.type, call->buffers.receive, get_counts(call)->local_elements,
          call->message.type, call->peers.root, call->peers.comm)

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

#define SCATTER \
    .standard = "MPI-4.1 6.6", COLLECTIVE, .amounts.root_send = {.each = 1}, RECEIVES({.base = 1}), .data.sized = true, \
    .ranks.rooted = true, .data.in_place = IN_PLACE_ROOT_KEEPS, .hooks.fill = fill, .hooks.check = check

static const struct operation scatter = {
    .name = "scatter",
    .help = "the root sends a different block to every rank",
    SCATTER,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation scatterv = {
    .name = "scatterv",
    .help = "the root sends a different block to every rank, with a count per rank",
    SCATTER,
    .amounts.room = 2,
    COUNTED(prepare_single_counts),
    .hooks.refuse = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
};
REGISTER(operation, scatter);
REGISTER(operation, scatterv);
