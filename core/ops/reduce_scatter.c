#include "kit/counts.h"
#include "kit/data.h"

ALL_FORMS(, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, call->buffers.send, call->buffers.receive,
          get_counts(call)->elements, call->message.type, call->message.reduction, call->peers.comm)

ALL_FORMS(_block, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, call->buffers.send,
          call->buffers.receive, call->message.count, call->message.type, call->message.reduction, call->peers.comm)

static void fill(struct call *call) {
    fill_terms(call, call->buffers.send, (long)call->message.count * call->peers.ranks, 0, call->peers.rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct span span = find_block(call, call->peers.rank);
    const int width = call->message.datatype->bytes;
    check_reduced(call, call->buffers.receive, span.bytes / width, span.at / width, 0, call->peers.ranks - 1, mismatch);
}

#define REDUCE_SCATTER \
    COLLECTIVE, SENDS({.each = 1}), .data.sized = true, .data.datatypes = NUMBERS, .hooks.fill = fill, .hooks.check = check

static const struct operation reduce_scatter = {
    .name = "reduce_scatter",
    .help = "numbers of all ranks, reduced; every rank gets a block, with a count per rank",
    .standard = "MPI-4.1 6.10.2",
    REDUCE_SCATTER,
    RECEIVES({.base = 1}),
    .amounts.room = 2,
    COUNTED(prepare_single_counts),
    .hooks.refuse = refuse_counts,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation reduce_scatter_block = {
    .name = "reduce_scatter_block",
    .help = "numbers of all ranks, reduced; every rank gets an equal block",
    .standard = "MPI-4.1 6.10.1",
    REDUCE_SCATTER,
    RECEIVES({.base = 1}),
    .forms = {blocking_block, nonblocking_block, persistent_block},
};
REGISTER(operation, reduce_scatter);
REGISTER(operation, reduce_scatter_block);
