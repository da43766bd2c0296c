#include "kit/counts.h"

ALL_FORMS(, MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, call->buffers.send, call->message.count, call->message.type,
          call->buffers.receive, call->message.count, call->message.type, call->peers.comm)

ALL_FORMS(_v, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, call->buffers.send, get_counts(call)->local_elements,
          call->message.type, call->buffers.receive, get_counts(call)->elements, get_counts(call)->places, call->message.type,
          call->peers.comm)

#define ALLGATHER \
    .standard = "MPI-4.1 6.7", COLLECTIVE, SENDS({.base = 1}), RECEIVES({.each = 1}), .data.sized = true, \
    .hooks.fill = fill_own_block, .hooks.check = check_all_blocks

static const struct operation allgather = {
    .name = "allgather",
    .help = "data of all ranks, gathered on every rank",
    ALLGATHER,
    .data.in_place = IN_PLACE_BY_RANK,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation allgatherv = {
    .name = "allgatherv",
    .help = "data of all ranks, with a count per rank, gathered on every rank",
    ALLGATHER,
    .amounts.room = 2,
    COUNTED(prepare_rank_counts),
    .hooks.refuse = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
};
REGISTER(operation, allgather);
REGISTER(operation, allgatherv);
