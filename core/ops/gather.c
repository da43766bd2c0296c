#include "kit/counts.h"

static int blocking(struct call *call) {
    return MPI_Gather(call->send, call->count, call->type, call->receive, call->count, call->type, call->root, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Igather(call->send, call->count, call->type, call->receive, call->count, call->type, call->root, call->comm,
                       call->requests);
}

static int persistent(struct call *call) {
    return MPI_Gather_init(call->send, call->count, call->type, call->receive, call->count, call->type, call->root, call->comm,
                           MPI_INFO_NULL, call->requests);
}

static int blocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Gatherv(call->send, counts->local_elements, call->type, call->receive, counts->elements, counts->places,
                       call->type, call->root, call->comm);
}

static int nonblocking_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Igatherv(call->send, counts->local_elements, call->type, call->receive, counts->elements, counts->places,
                        call->type, call->root, call->comm, call->requests);
}

static int persistent_v(struct call *call) {
    const struct counts *counts = call->state;
    return MPI_Gatherv_init(call->send, counts->local_elements, call->type, call->receive, counts->elements, counts->places,
                            call->type, call->root, call->comm, MPI_INFO_NULL, call->requests);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    if (call->rank == call->root)
        check_all_blocks(call, mismatch);
}

static const struct operation gather = {
    .name = "gather",
    .help = "every rank's data, collected on the root",
    .standard = "MPI-4.1 6.5",
    COLLECTIVE,
    SENDS({.base = 1}),
    .root_receive = {.each = 1},
    .sized = true,
    .rooted = true,
    .in_place = IN_PLACE_BY_RANK,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill_own_block,
    .check = check,
};

static const struct operation gatherv = {
    .name = "gatherv",
    .help = "every rank's data, as much as its count says, collected on the root",
    .standard = "MPI-4.1 6.5",
    COLLECTIVE,
    SENDS({.base = 1}),
    .room = 2,
    .root_receive = {.each = 1},
    .sized = true,
    .rooted = true,
    COUNTED(prepare_single_counts),
    .refuses = refuse_counts,
    .forms = {blocking_v, nonblocking_v, persistent_v},
    .fill = fill_own_block,
    .check = check,
};
REGISTER(operation, gather);
REGISTER(operation, gatherv);
