#include "kit/new_comm.h"

static int create(struct call *call) {
    return MPI_Win_create(call->buffers.receive, call->buffers.receive_bytes, 1, MPI_INFO_NULL, call->peers.members,
                          &get_new_comm(call)->window);
}

static int allocate(struct call *call) {
    void *memory;
    return MPI_Win_allocate(call->message.bytes, 1, MPI_INFO_NULL, call->peers.members, &memory, &get_new_comm(call)->window);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct properties expected = {
        .ranks = call->peers.ranks, .rank = call->peers.rank, .topology = MPI_UNDEFINED, .window_bytes = call->message.bytes};
    check_properties(&get_new_comm(call)->observed, expected, mismatch);
}

#define MAKES_WINDOW \
    PROCESS, .data.sized = true, .data.datatypes = BYTES, .hooks.prepare = prepare_new_comm, .hooks.finish = finish_new_comm, \
             .hooks.after = free_new_comm, .hooks.check = check

static const struct operation win_create = {
    .name = "win_create",
    .help = "creates a window of existing memory",
    .standard = "MPI-4.1 12.2.1",
    MAKES_WINDOW,
    RECEIVES({.base = 1}),
    .forms = {create},
};
REGISTER(operation, win_create);

static const struct operation win_allocate = {
    .name = "win_allocate",
    .help = "creates a window with new memory",
    .standard = "MPI-4.1 12.2.2",
    MAKES_WINDOW,
    .forms = {allocate},
};
REGISTER(operation, win_allocate);
