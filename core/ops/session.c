#include "kit/new_comm.h"

struct own {
    struct new_comm new_comm;
    MPI_Session session;
};

static int prepare(struct call *call) {
    const int code = keep_new_comm(call, sizeof(struct own));
    if (!code)
        ((struct own *)call->own)->session = MPI_SESSION_NULL;
    return code;
}

static int blocking(struct call *call) {
    struct own *own = call->own;
    int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own->session);
    if (!code)
        code = MPI_Group_from_session_pset(own->session, "mpi://WORLD", &own->new_comm.group);
    if (!code)
        code =
            MPI_Comm_create_from_group(own->new_comm.group, "rankbench", MPI_INFO_NULL, MPI_ERRORS_RETURN, &own->new_comm.comm);
    return code;
}

/* A session is ended when all that was made in it is gone. */
static int after(struct call *call) {
    struct own *own = call->own;
    int code = free_new_comm(call);
    if (!code && own->new_comm.group != MPI_GROUP_NULL)
        code = MPI_Group_free(&own->new_comm.group);
    if (!code && own->session != MPI_SESSION_NULL)
        code = MPI_Session_finalize(&own->session);
    return code;
}

static void finish(struct call *call) {
    MPI_Session session = call->own ? ((struct own *)call->own)->session : MPI_SESSION_NULL;
    finish_new_comm(call);
    if (session != MPI_SESSION_NULL)
        MPI_Session_finalize(&session);
}

static const struct operation session = {
    .name = "session",
    .help = "a session is begun and a communicator made of all its ranks; both are put away after it",
    .standard = "MPI-4.1 11.3.1",
    PROCESS,
    .forms = {blocking},
    .prepare = prepare,
    .finish = finish,
    .after = after,
    .check = check_new_comm,
};
REGISTER(operation, session);
