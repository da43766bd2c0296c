#include "base/op.h"
#include "kit/data.h"

/* The root sends from `send`, the others receive into `receive`: MPI_Bcast has one buffer argument. */
static unsigned char *find_buffer(struct call *call) {
    return call->peers.rank == call->peers.root ? call->buffers.send : call->buffers.receive;
}

ALL_FORMS(, MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, find_buffer(call), call->message.count, call->message.type, call->peers.root,
          call->peers.comm)

ALL_FORMS(_large, MPI_Bcast_c, MPI_Ibcast_c, MPI_Bcast_init_c, find_buffer(call), call->message.large_count, call->message.type,
          call->peers.root, call->peers.comm)

#define BCAST \
    COLLECTIVE, .standard = "MPI-4.1 6.4", FROM_ROOT({.base = 1}), .data.sized = true, .ranks.rooted = true, \
                                                                   .hooks.fill = fill_same, .hooks.check = check_same

static const struct operation bcast = {
    .name = "bcast",
    .help = "the root sends the same data to all",
    BCAST,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation bcast_large = {
    .name = "bcast-large",
    .help = "the root sends the same data to all, with counts of type MPI_Count",
    BCAST,
    .data.large = true,
    .forms = {blocking_large, nonblocking_large, persistent_large},
};
REGISTER(operation, bcast);
REGISTER(operation, bcast_large);
