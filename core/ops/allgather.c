#include "kit/counts.h"

static int blocking(struct call *call) {
    return MPI_Allgather(call->buffers.send, call->message.count, call->message.type, call->buffers.receive, call->message.count,
                         call->message.type, call->peers.comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iallgather(call->buffers.send, call->message.count, call->message.type, call->buffers.receive, call->message.count,
                          call->message.type, call->peers.comm, call->window.requests);
}

static int persistent(struct call *call) {
    return MPI_Allgather_init(call->buffers.send, call->message.count, call->message.type, call->buffers.receive,
                              call->message.count, call->message.type, call->peers.comm, MPI_INFO_NULL, call->window.requests);
}

static int blocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Allgatherv(call->buffers.send, counts->local_elements, call->message.type, call->buffers.receive, counts->elements,
                          counts->places, call->message.type, call->peers.comm);
}

static int nonblocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Iallgatherv(call->buffers.send, counts->local_elements, call->message.type, call->buffers.receive,
                           counts->elements, counts->places, call->message.type, call->peers.comm, call->window.requests);
}

static int persistent_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Allgatherv_init(call->buffers.send, counts->local_elements, call->message.type, call->buffers.receive,
                               counts->elements, counts->places, call->message.type, call->peers.comm, MPI_INFO_NULL,
                               call->window.requests);
}

static const struct operation allgather = {
    .name = "allgather",
    .help = "data of all ranks, gathered on every rank",
    .standard = "MPI-4.1 6.7",
    COLLECTIVE,
    SENDS({.base = 1}),
    RECEIVES({.each = 1}),
    .data.sized = true,
    .data.in_place = IN_PLACE_BY_RANK,
    .forms = {blocking, nonblocking, persistent},
    .hooks.fill = fill_own_block,
    .hooks.check = check_all_blocks,
};

static const struct operation allgatherv = {
    .name = "allgatherv",
    .help = "data of all ranks, with a count per rank, gathered on every rank",
    .standard = "MPI-4.1 6.7",
    COLLECTIVE,
    SENDS({.base = 1}),
    .amounts.room = 2,
    RECEIVES({.each = 1}),
    .data.sized = true,
    COUNTED(prepare_rank_counts),
    .hooks.refuse = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
    .hooks.fill = fill_own_block,
    .hooks.check = check_all_blocks,
};
REGISTER(operation, allgather);
REGISTER(operation, allgatherv);
