#include "op.h"

static int blocking(struct call *call) {
    return MPI_Alltoall(call->send, call->count, call->datatype->type, call->receive, call->count, call->datatype->type,
                        call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ialltoall(call->send, call->count, call->datatype->type, call->receive, call->count, call->datatype->type,
                         call->comm, call->requests);
}

static int persistent(struct call *call) {
    return MPI_Alltoall_init(call->send, call->count, call->datatype->type, call->receive, call->count,
                             call->datatype->type, call->comm, MPI_INFO_NULL, call->requests);
}

/* Every pair of ranks has a stream of its own, so that a block delivered to the wrong rank is seen. */
static unsigned stream(const struct call *call, int from, int to) {
    return call->seed + (unsigned)(from * call->ranks + to);
}

static void fill(struct call *call) {
    for (int to = 0; to < call->ranks; to++)
        fill_bytes(call->send + to * call->bytes, call->bytes, stream(call, call->rank, to));
}

static void check(const struct call *call, struct mismatch *mismatch) {
    for (int from = 0; from < call->ranks; from++)
        check_bytes(call->receive + from * call->bytes, call->bytes, stream(call, from, call->rank), from * call->bytes,
                    mismatch);
}

static const struct operation alltoall = {
    .name = "alltoall",
    .help = "every rank sends a block of its own to every rank",
    .standard = "MPI-4.1 6.8",
    COLLECTIVE,
    SENDS({.each = 1}),
    RECEIVES({.each = 1}),
    .sized = true,
    .in_place = IN_PLACE,
    .forms = {blocking, nonblocking, persistent},
    .fill = fill,
    .check = check,
};
REGISTER(operation, alltoall);
