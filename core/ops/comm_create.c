#include "kit/new_comm.h"
#include "kit/separate_comm.h"

enum { TAG = 1 };

static int create(struct call *call) {
    return MPI_Comm_create(call->peers.members, get_new_comm(call)->group, &get_new_comm(call)->comm);
}

static int create_group(struct call *call) {
    return MPI_Comm_create_group(call->peers.members, get_new_comm(call)->group, TAG, &get_new_comm(call)->comm);
}

#define OF_GROUP .standard = "MPI-4.1 7.4.2", MAKES_COMMUNICATOR, .hooks.prepare = prepare_group, .hooks.check = check_new_comm

static const struct operation comm_create = {
    .name = "comm_create",
    .help = "creates a communicator of a group, called by all ranks of the old one",
    OF_GROUP,
    .forms = {create},
};
REGISTER(operation, comm_create);

static const struct operation comm_create_group = {
    .name = "comm_create_group",
    .help = "creates a communicator of a group, called by its ranks only",
    OF_GROUP,
    .forms = {create_group},
};
REGISTER(operation, comm_create_group);
