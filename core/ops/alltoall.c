#include "kit/counts.h"
#include "kit/data.h"

ALL_FORMS(, MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, call->buffers.send, call->message.count, call->message.type,
          call->buffers.receive, call->message.count, call->message.type, call->peers.comm)

ALL_FORMS(_v, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, call->buffers.send, get_counts(call)->elements,
          get_counts(call)->places, call->message.type, call->buffers.receive, get_counts(call)->elements,
          get_counts(call)->places, call->message.type, call->peers.comm)

ALL_FORMS(_w, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, call->buffers.send, get_counts(call)->elements,
          get_counts(call)->byte_places, get_counts(call)->types, call->buffers.receive, get_counts(call)->elements,
          get_counts(call)->byte_places, get_counts(call)->types, call->peers.comm)

static const char *refuse_w(const struct call *call) {
    if ((int64_t)call->message.extent * call->peers.ranks > INT32_MAX)
        return "the displacements of the blocks, in bytes, exceed an int";
    return refuse_counts(call);
}

/* Data differ between pairs of ranks, so that a block delivered to the wrong rank is detected. */
static unsigned find_stream(const struct call *call, int from, int to) {
    return call->seed + (unsigned)(from * call->peers.ranks + to);
}

static void fill(struct call *call) {
    for (int to = 0; to < call->peers.ranks; to++) {
        const struct span span = find_block(call, to);
        fill_bytes(call->buffers.send + span.at, span.bytes, find_stream(call, call->peers.rank, to));
    }
}

static void check(const struct call *call, struct mismatch *mismatch) {
    for (int from = 0; from < call->peers.ranks; from++) {
        const struct span span = find_block(call, from);
        check_bytes(call->buffers.receive + span.at, span.bytes, find_stream(call, from, call->peers.rank), span.at, mismatch);
    }
}

#define ALLTOALL \
    COLLECTIVE, SENDS({.each = 1}), RECEIVES({.each = 1}), .standard = "MPI-4.1 6.8", \
        .data.sized = true, .data.in_place = IN_PLACE, .hooks.fill = fill, .hooks.check = check

static const struct operation alltoall = {
    .name = "alltoall",
    .help = "every rank sends a different block to every rank",
    ALLTOALL,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation alltoallv = {
    .name = "alltoallv",
    .help = "every rank sends a different block to every rank, with a count per pair of ranks",
    ALLTOALL,
    COUNTED(prepare_pair_counts),
    .hooks.refuse = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
};

static const struct operation alltoallw = {
    .name = "alltoallw",
    .help = "every rank sends a different block to every rank, with a count, a displacement and a datatype for each",
    ALLTOALL,
    COUNTED(prepare_pair_counts),
    .hooks.refuse = refuse_w,
    .forms = {blocking_w, nonblocking_w, persistent_w},
};
REGISTER(operation, alltoall);
REGISTER(operation, alltoallv);
REGISTER(operation, alltoallw);
