#include "kit/counts.h"

ALL_FORMS(, MPI_Gather, MPI_Igather, MPI_Gather_init, call->buffers.send, call->message.count, call->message.type,
          call->buffers.receive, call->message.count, call->message.type, call->peers.root, call->peers.comm)

ALL_FORMS(_v, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, call->buffers.send, get_counts(call)->local_elements,
          call->message.type, call->buffers.receive, get_counts(call)->elements, get_counts(call)->places, call->message.type,
          call->peers.root, call->peers.comm)

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->peers.rank == call->peers.root)
        check_all_blocks(call, mismatch);
}

#define GATHER \
    .standard = "MPI-4.1 6.5", COLLECTIVE, SENDS({.base = 1}), .amounts.root_receive = {.each = 1}, .data.sized = true, \
    .ranks.rooted = true, .hooks.fill = fill_own_block, .hooks.check = check

static const struct operation gather = {
    .name = "gather",
    .help = "data of all ranks, gathered on the root",
    GATHER,
    .data.in_place = IN_PLACE_BY_RANK,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation gatherv = {
    .name = "gatherv",
    .help = "data of all ranks, with a count per rank, gathered on the root",
    GATHER,
    .amounts.room = 2,
    COUNTED(prepare_single_counts),
    .hooks.refuse = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
};
REGISTER(operation, gather);
REGISTER(operation, gatherv);
