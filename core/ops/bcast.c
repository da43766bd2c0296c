#include "base/op.h"
#include "kit/data.h"

/* The root sends from `send`, the others receive into `receive`: MPI_Bcast has one buffer argument. */
static unsigned char *find_buffer(struct call *call) {
    return call->peers.rank == call->peers.root ? call->buffers.send : call->buffers.receive;
}

static int blocking(struct call *call) {
    return MPI_Bcast(find_buffer(call), call->message.count, call->message.type, call->peers.root, call->peers.comm);
}

static int nonblocking(struct call *call) {
    return MPI_Ibcast(find_buffer(call), call->message.count, call->message.type, call->peers.root, call->peers.comm,
                      call->window.requests);
}

static int persistent(struct call *call) {
    return MPI_Bcast_init(find_buffer(call), call->message.count, call->message.type, call->peers.root, call->peers.comm,
                          MPI_INFO_NULL, call->window.requests);
}

static int blocking_large(struct call *call) {
    return MPI_Bcast_c(find_buffer(call), call->message.large_count, call->message.type, call->peers.root, call->peers.comm);
}

static int nonblocking_large(struct call *call) {
    return MPI_Ibcast_c(find_buffer(call), call->message.large_count, call->message.type, call->peers.root, call->peers.comm,
                        call->window.requests);
}

static int persistent_large(struct call *call) {
    return MPI_Bcast_init_c(find_buffer(call), call->message.large_count, call->message.type, call->peers.root, call->peers.comm,
                            MPI_INFO_NULL, call->window.requests);
}

static void fill(struct call *call) {
    fill_bytes(call->buffers.send, call->buffers.send_bytes, call->seed);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_bytes(call->buffers.receive, call->buffers.receive_bytes, call->seed, 0, mismatch);
}

#define BCAST \
    COLLECTIVE, .amounts.receive = {.base = 1}, .amounts.root_send = {.base = 1}, .data.sized = true, .ranks.rooted = true, \
                .hooks.fill = fill, .hooks.check = check

static const struct operation bcast = {
    .name = "bcast",
    .help = "the root sends the same data to all",
    .standard = "MPI-4.1 6.4",
    BCAST,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation bcast_large = {
    .name = "bcast-large",
    .help = "the root sends the same data to all, with counts of type MPI_Count",
    .standard = "MPI-4.1 6.4",
    BCAST,
    .data.large = true,
    .forms = {blocking_large, nonblocking_large, persistent_large},
};
REGISTER(operation, bcast);
REGISTER(operation, bcast_large);
