#include "base/op.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Allreduce(call->send, call->receive, call->count, call->type, call->reduction, call->comm);
}

static int nonblocking(struct call *call) {
    return MPI_Iallreduce(call->send, call->receive, call->count, call->type, call->reduction, call->comm, call->requests);
}

static int persistent(struct call *call) {
    return MPI_Allreduce_init(call->send, call->receive, call->count, call->type, call->reduction, call->comm, MPI_INFO_NULL,
                              call->requests);
}

static int blocking_large(struct call *call) {
    return MPI_Allreduce_c(call->send, call->receive, call->large_count, call->type, call->reduction, call->comm);
}

static int nonblocking_large(struct call *call) {
    return MPI_Iallreduce_c(call->send, call->receive, call->large_count, call->type, call->reduction, call->comm,
                            call->requests);
}

static int persistent_large(struct call *call) {
    return MPI_Allreduce_init_c(call->send, call->receive, call->large_count, call->type, call->reduction, call->comm,
                                MPI_INFO_NULL, call->requests);
}

#define ALLREDUCE \
    COLLECTIVE, SENDS({.base = 1}), RECEIVES({.base = 1}), .standard = "MPI-4.1 6.9.6", .sized = true, .datatypes = NUMBERS, \
        .in_place = IN_PLACE, .fill = fill_addends, .check = check_sums

static const struct operation allreduce = {
    .name = "allreduce",
    .help = "every rank's numbers, reduced and delivered to all",
    ALLREDUCE,
    .forms = {blocking, nonblocking, persistent},
};

static const struct operation allreduce_large = {
    .name = "allreduce-large",
    .help = "every rank's numbers, reduced and delivered to all, counted as MPI_Count",
    ALLREDUCE,
    .large = true,
    .forms = {blocking_large, nonblocking_large, persistent_large},
};
REGISTER(operation, allreduce);
REGISTER(operation, allreduce_large);
