#include "kit/counts.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Reduce_scatter(call->send, call->receive, counts_of(call)->elements, call->type, call->reduction, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ireduce_scatter(call->send, call->receive, counts_of(call)->elements, call->type, call->reduction, call->comm,
                               call->requests);
}

static int persistent(struct call *call) {
    return MPI_Reduce_scatter_init(call->send, call->receive, counts_of(call)->elements, call->type, call->reduction, call->comm,
                                   MPI_INFO_NULL, call->requests);
}

static int blocking_block(struct call *call) {
    return MPI_Reduce_scatter_block(call->send, call->receive, call->count, call->type, call->reduction, call->comm);
}

static int nonblocking_block(struct call *call) {
    return MPI_Ireduce_scatter_block(call->send, call->receive, call->count, call->type, call->reduction, call->comm,
                                     call->requests);
}

static int persistent_block(struct call *call) {
    return MPI_Reduce_scatter_block_init(call->send, call->receive, call->count, call->type, call->reduction, call->comm,
                                         MPI_INFO_NULL, call->requests);
}

static void fill(struct call *call) {
    fill_terms(call, call->send, (long)call->count * call->ranks, 0, call->rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct span span = block_of(call, call->rank);
    const int width = call->datatype->bytes;
    check_reduced(call, call->receive, span.bytes / width, span.at / width, 0, call->ranks - 1, mismatch);
}

#define REDUCE_SCATTER COLLECTIVE, SENDS({.each = 1}), .sized = true, .datatypes = NUMBERS, .fill = fill, .check = check

static const struct operation reduce_scatter = {
    .name = "reduce_scatter",
    .help = "every rank's numbers, a block for each rank, reduced; every rank gets its own block, as much as its count says",
    .standard = "MPI-4.1 6.10.2",
    REDUCE_SCATTER,
    RECEIVES({.base = 1}),
    .room = 2,
    COUNTED(prepare_single_counts),
    .refuses = refuse_counts,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation reduce_scatter_block = {
    .name = "reduce_scatter_block",
    .help = "every rank's numbers, an equal block for each rank, reduced; every rank gets its own block",
    .standard = "MPI-4.1 6.10.1",
    REDUCE_SCATTER,
    RECEIVES({.base = 1}),
    .forms = {blocking_block, nonblocking_block, persistent_block},
};
REGISTER(operation, reduce_scatter);
REGISTER(operation, reduce_scatter_block);
