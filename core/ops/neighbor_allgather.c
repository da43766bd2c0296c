#include "kit/data.h"
#include "kit/neighbours.h"

ALL_FORMS(, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, call->buffers.send, call->message.count,
          call->message.type, call->buffers.receive, call->message.count, call->message.type, get_new_comm(call)->comm)

ALL_FORMS(_v, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, call->buffers.send,
          call->message.count, call->message.type, call->buffers.receive, get_neighbourhood(call)->counts,
          get_neighbourhood(call)->places, call->message.type, get_neighbourhood(call)->new_comm.comm)

/* A rank sends the same block to all neighbours. */
static unsigned find_stream(const struct call *call, struct origin from) {
    return call->seed + (unsigned)from.rank;
}

static void fill(struct call *call) {
    fill_bytes(call->buffers.send, call->message.bytes, find_stream(call, (struct origin){.rank = call->peers.rank}));
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_neighbours(call, find_stream, mismatch);
}

#define NEIGHBOR_ALLGATHER \
    .standard = "MPI-4.1 8.6.1", NEIGHBOURHOOD, SENDS({.base = 1}), RECEIVES({.base = 1, .per_message = true}), \
    .hooks.fill = fill, .hooks.check = check

static const struct operation neighbor_allgather = {
    .name = "neighbor_allgather",
    .help = "every rank gathers the data of all its neighbours on a grid",
    NEIGHBOR_ALLGATHER,
    .forms = {blocking, nonblocking, persistent},
};
REGISTER(operation, neighbor_allgather);

static const struct operation neighbor_allgatherv = {
    .name = "neighbor_allgatherv",
    .help = "neighbor_allgather with a count and a displacement per neighbour; the counts are equal",
    NEIGHBOR_ALLGATHER,
    .forms = {blocking_v, nonblocking_v, persistent_v},
};
REGISTER(operation, neighbor_allgatherv);
