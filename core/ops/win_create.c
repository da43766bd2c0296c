#include "kit/new_comm.h"

#include <stdlib.h>

#include "base/allocation.h"

struct state {
    MPI_Win win;
    struct properties observed;
    bool freed;
};

static int prepare(struct call *call) {
    struct state *state = call->state = try_memory(sizeof *state);
    if (!state)
        return MPI_ERR_NO_MEM;
    state->win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

static int create(struct call *call) {
    struct state *state = call->state;
    return MPI_Win_create(call->buffers.receive, call->buffers.receive_bytes, 1, MPI_INFO_NULL, call->peers.members, &state->win);
}

static int allocate(struct call *call) {
    struct state *state = call->state;
    void *memory;
    return MPI_Win_allocate(call->message.bytes, 1, MPI_INFO_NULL, call->peers.members, &memory, &state->win);
}

static int read_window(MPI_Win win, struct properties *observed) {
    MPI_Group group;
    MPI_Aint *bytes = NULL;
    int has_bytes = 0;
    int code = MPI_Win_get_group(win, &group);
    if (code)
        return code;
    code = read_group(group, observed);
    if (!code)
        code = MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &has_bytes);
    observed->window_bytes = has_bytes ? (int64_t)*bytes : -1;
    return code ? code : MPI_Group_free(&group);
}

/* Freed within the call, it is not inspected. */
static int after(struct call *call) {
    struct state *state = call->state;
    const bool exists = state->win != MPI_WIN_NULL, freed = state->freed;
    int code = MPI_SUCCESS;
    state->freed = call->frees && exists;
    if (!exists && freed)
        return MPI_SUCCESS;
    if (!call->frees) {
        state->observed = (struct properties){0};
        code = exists ? read_window(state->win, &state->observed) : MPI_SUCCESS;
    }
    return code || !exists ? code : MPI_Win_free(&state->win);
}

static void finish(struct call *call) {
    struct state *state = call->state;
    if (state && state->win != MPI_WIN_NULL)
        MPI_Win_free(&state->win);
    free(state);
    call->state = NULL;
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct state *state = call->state;
    struct properties expected = {
        .ranks = call->peers.ranks, .rank = call->peers.rank, .topology = MPI_UNDEFINED, .window_bytes = call->message.bytes};
    check_properties(&state->observed, expected, mismatch);
}

#define MAKES_WINDOW \
    PROCESS, .data.sized = true, .data.datatypes = BYTES, .hooks.prepare = prepare, .hooks.finish = finish, \
             .hooks.after = after, .hooks.check = check

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
