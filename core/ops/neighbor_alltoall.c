#include "kit/data.h"
#include "kit/neighbours.h"

ALL_FORMS(, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, call->buffers.send, call->message.count,
          call->message.type, call->buffers.receive, call->message.count, call->message.type, get_new_comm(call)->comm)

ALL_FORMS(_v, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, call->buffers.send,
          get_neighbourhood(call)->counts, get_neighbourhood(call)->places, call->message.type, call->buffers.receive,
          get_neighbourhood(call)->counts, get_neighbourhood(call)->places, call->message.type,
          get_neighbourhood(call)->new_comm.comm)

ALL_FORMS(_w, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, call->buffers.send,
          get_neighbourhood(call)->counts, get_neighbourhood(call)->offsets, get_neighbourhood(call)->types,
          call->buffers.receive, get_neighbourhood(call)->counts, get_neighbourhood(call)->offsets,
          get_neighbourhood(call)->types, get_neighbourhood(call)->new_comm.comm)

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

#define NEIGHBOR_ALLTOALL \
    .standard = "MPI-4.1 8.6.2", NEIGHBOURHOOD, SENDS({.base = 1, .per_message = true}), \
    RECEIVES({.base = 1, .per_message = true}), .hooks.fill = fill, .hooks.check = check

static const struct operation neighbor_alltoall = {
    .name = "neighbor_alltoall",
    .help = "every rank exchanges a different block with each of its neighbours on a grid, as in a halo exchange",
    NEIGHBOR_ALLTOALL,
    .forms = {blocking, nonblocking, persistent},
};
REGISTER(operation, neighbor_alltoall);

static const struct operation neighbor_alltoallv = {
    .name = "neighbor_alltoallv",
    .help = "neighbor_alltoall with a count and a displacement per neighbour; the counts are equal",
    NEIGHBOR_ALLTOALL,
    .forms = {blocking_v, nonblocking_v, persistent_v},
};
REGISTER(operation, neighbor_alltoallv);

static const struct operation neighbor_alltoallw = {
    .name = "neighbor_alltoallw",
    .help = "neighbor_alltoall with a count, a displacement and a datatype per neighbour; counts and types are equal",
    NEIGHBOR_ALLTOALL,
    .forms = {blocking_w, nonblocking_w, persistent_w},
};
REGISTER(operation, neighbor_alltoallw);
