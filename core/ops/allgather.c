#include "op.h"

static int blocking(struct call *call) {
    return MPI_Allgather(call->send, call->count, call->datatype->type, call->receive, call->count, call->datatype->type,
                         call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iallgather(call->send, call->count, call->datatype->type, call->receive, call->count, call->datatype->type,
                          call->comm, call->requests);
}

static int persistent(struct call *call) {
    return MPI_Allgather_init(call->send, call->count, call->datatype->type, call->receive, call->count,
                              call->datatype->type, call->comm, MPI_INFO_NULL, call->requests);
}

static void fill(struct call *call) {
    fill_bytes(call->send, call->bytes, call->seed + (unsigned)call->rank);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    for (int rank = 0; rank < call->ranks; rank++)
        check_bytes(call->receive + rank * call->bytes, call->bytes, call->seed + (unsigned)rank, rank * call->bytes,
                    mismatch);
}

static const struct operation allgather = {
    .name = "allgather",
    .help = "every rank's data, collected on all",
    .standard = "MPI-4.1 6.7",
    COLLECTIVE,
    SENDS({.own = 1}),
    RECEIVES({.each = 1}),
    .sized = true,
    .in_place = IN_PLACE_BY_RANK,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill,
    .check = check,
};
REGISTER(operation, allgather);
