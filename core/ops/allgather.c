#include "kit/counts.h"

static int blocking(struct call *call) {
    return MPI_Allgather(call->send, call->count, call->type, call->receive, call->count, call->type, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iallgather(call->send, call->count, call->type, call->receive, call->count, call->type, call->comm,
                          call->requests);
}

static int persistent(struct call *call) {
    return MPI_Allgather_init(call->send, call->count, call->type, call->receive, call->count, call->type, call->comm,
                              MPI_INFO_NULL, call->requests);
}

static int blocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Allgatherv(call->send, counts->local_elements, call->type, call->receive, counts->elements, counts->places,
                          call->type, call->comm);
}

static int nonblocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Iallgatherv(call->send, counts->local_elements, call->type, call->receive, counts->elements, counts->places,
                           call->type, call->comm, call->requests);
}

static int persistent_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Allgatherv_init(call->send, counts->local_elements, call->type, call->receive, counts->elements, counts->places,
                               call->type, call->comm, MPI_INFO_NULL, call->requests);
}

static const struct operation allgather = {
    .name = "allgather",
    .help = "every rank's data, collected on all",
    .standard = "MPI-4.1 6.7",
    COLLECTIVE,
    SENDS({.base = 1}),
    RECEIVES({.each = 1}),
    .sized = true,
    .in_place = IN_PLACE_BY_RANK,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill_own_block,
    .check = check_all_blocks,
};

static const struct operation allgatherv = {
    .name = "allgatherv",
    .help = "every rank's data, as much as its count says, collected on all",
    .standard = "MPI-4.1 6.7",
    COLLECTIVE,
    SENDS({.base = 1}),
    .room = 2,
    RECEIVES({.each = 1}),
    .sized = true,
    COUNTED(prepare_rank_counts),
    .refuses = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
    .fill = fill_own_block,
    .check = check_all_blocks,
};
REGISTER(operation, allgather);
REGISTER(operation, allgatherv);
