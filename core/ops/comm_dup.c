#include "kit/new_comm.h"
#include "kit/separate_comm.h"

static int blocking(struct call *call) {
    return MPI_Comm_dup(call->peers.members, &get_new_comm(call)->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Comm_idup(call->peers.members, &get_new_comm(call)->comm, call->window.requests);
}

static const struct operation comm_dup = {
    .name = "comm_dup",
    .help = "duplicates a communicator",
    .standard = "MPI-4.1 7.4.2",
    MAKES_COMMUNICATOR,
    .forms = {blocking, nonblocking},
    .hooks.prepare = prepare_new_comm,
    .hooks.check = check_new_comm,
};
REGISTER(operation, comm_dup);
