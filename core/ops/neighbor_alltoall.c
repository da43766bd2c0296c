#include "kit/data.h"
#include "kit/neighbours.h"

static int blocking(struct call *call) {
    return MPI_Neighbor_alltoall(call->buffers.send, call->message.count, call->message.type, call->buffers.receive,
                                 call->message.count, call->message.type, get_new_comm(call)->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ineighbor_alltoall(call->buffers.send, call->message.count, call->message.type, call->buffers.receive,
                                  call->message.count, call->message.type, get_new_comm(call)->comm, call->window.requests);
}

static int persistent(struct call *call) {
    return MPI_Neighbor_alltoall_init(call->buffers.send, call->message.count, call->message.type, call->buffers.receive,
                                      call->message.count, call->message.type, get_new_comm(call)->comm, MPI_INFO_NULL,
                                      call->window.requests);
}

static int blocking_v(struct call *call) {
    const struct neighbourhood *to = get_neighbourhood(call);
    return MPI_Neighbor_alltoallv(call->buffers.send, to->counts, to->places, call->message.type, call->buffers.receive,
                                  to->counts, to->places, call->message.type, to->new_comm.comm);
}

static int nonblocking_v(struct call *call) {
    const struct neighbourhood *to = get_neighbourhood(call);
    return MPI_Ineighbor_alltoallv(call->buffers.send, to->counts, to->places, call->message.type, call->buffers.receive,
                                   to->counts, to->places, call->message.type, to->new_comm.comm, call->window.requests);
}

static int persistent_v(struct call *call) {
    const struct neighbourhood *to = get_neighbourhood(call);
    return MPI_Neighbor_alltoallv_init(call->buffers.send, to->counts, to->places, call->message.type, call->buffers.receive,
                                       to->counts, to->places, call->message.type, to->new_comm.comm, MPI_INFO_NULL,
                                       call->window.requests);
}

static int blocking_w(struct call *call) {
    const struct neighbourhood *to = get_neighbourhood(call);
    return MPI_Neighbor_alltoallw(call->buffers.send, to->counts, to->offsets, to->types, call->buffers.receive, to->counts,
                                  to->offsets, to->types, to->new_comm.comm);
}

static int nonblocking_w(struct call *call) {
    const struct neighbourhood *to = get_neighbourhood(call);
    return MPI_Ineighbor_alltoallw(call->buffers.send, to->counts, to->offsets, to->types, call->buffers.receive, to->counts,
                                   to->offsets, to->types, to->new_comm.comm, call->window.requests);
}

static int persistent_w(struct call *call) {
    const struct neighbourhood *to = get_neighbourhood(call);
    return MPI_Neighbor_alltoallw_init(call->buffers.send, to->counts, to->offsets, to->types, call->buffers.receive, to->counts,
                                       to->offsets, to->types, to->new_comm.comm, MPI_INFO_NULL, call->window.requests);
}

/* Data differ between blocks, so that a block in place of another is detected. */
static unsigned find_stream(const struct call *call, struct origin from) {
    return call->seed + (unsigned)(from.rank * MOST_NEIGHBOURS + from.block);
}

static void fill(struct call *call) {
    for (int block = 0; block < call->window.messages; block++)
        fill_bytes(call->buffers.send + block * call->message.bytes, call->message.bytes,
                   find_stream(call, (struct origin){call->peers.rank, block}));
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_neighbours(call, find_stream, mismatch);
}

static const struct operation neighbor_alltoall = {
    .name = "neighbor_alltoall",
    .help = "every rank exchanges a different block with each of its neighbours on a grid, as in a halo exchange",
    .standard = "MPI-4.1 8.6.2",
    NEIGHBOURHOOD,
    SENDS({.base = 1, .per_message = true}),
    RECEIVES({.base = 1, .per_message = true}),
    .forms = {blocking, nonblocking, persistent},
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, neighbor_alltoall);

static const struct operation neighbor_alltoallv = {
    .name = "neighbor_alltoallv",
    .help = "neighbor_alltoall with a count and a displacement per neighbour; the counts are equal",
    .standard = "MPI-4.1 8.6.2",
    NEIGHBOURHOOD,
    SENDS({.base = 1, .per_message = true}),
    RECEIVES({.base = 1, .per_message = true}),
    .forms = {blocking_v, nonblocking_v, persistent_v},
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, neighbor_alltoallv);

static const struct operation neighbor_alltoallw = {
    .name = "neighbor_alltoallw",
    .help = "neighbor_alltoall with a count, a displacement and a datatype per neighbour; counts and types are equal",
    .standard = "MPI-4.1 8.6.2",
    NEIGHBOURHOOD,
    SENDS({.base = 1, .per_message = true}),
    RECEIVES({.base = 1, .per_message = true}),
    .forms = {blocking_w, nonblocking_w, persistent_w},
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, neighbor_alltoallw);
