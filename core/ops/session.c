#include "kit/new_comm.h"

struct state {
    struct new_comm new_comm;
    MPI_Session session;
};

static int prepare(struct call *call) {
    const int code = make_new_comm_state(call, sizeof(struct state));
    if (!code)
        ((struct state *)call->state)->session = MPI_SESSION_NULL;
    return code;
}

static int blocking(struct call *call) {
    struct state *state = call->state;
    int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &state->session);
    if (!code)
        code = MPI_Group_from_session_pset(state->session, "mpi://WORLD", &state->new_comm.group);
    if (!code)
        code = MPI_Comm_create_from_group(state->new_comm.group, "rankbench", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                          &state->new_comm.comm);
    return code;
}

/* A session ends after everything created in it was freed. */
static int after(struct call *call) {
    struct state *state = call->state;
    int code = free_new_comm(call);
    if (!code && state->new_comm.group != MPI_GROUP_NULL)
        code = MPI_Group_free(&state->new_comm.group);
    if (!code && state->session != MPI_SESSION_NULL)
        code = MPI_Session_finalize(&state->session);
    return code;
}

static void finish(struct call *call) {
    MPI_Session session = call->state ? ((struct state *)call->state)->session : MPI_SESSION_NULL;
    finish_new_comm(call);
    if (session != MPI_SESSION_NULL)
        MPI_Session_finalize(&session);
}

static const struct operation session = {
    .name = "session",
    .help = "starts a session and creates a communicator of all its ranks",
    .standard = "MPI-4.1 11.3.1",
    PROCESS,
    .forms = {blocking},
    .hooks.prepare = prepare,
    .hooks.finish = finish,
    .hooks.after = after,
    .hooks.check = check_new_comm,
};
REGISTER(operation, session);
