#include "kit/target.h"

static int get(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    (void)request;
    return MPI_Get(call->buffers.receive + transfer->local, call->message.count, call->message.type, transfer->rank,
                   transfer->place, call->message.count, call->message.type, window);
}

static int request_get(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    return MPI_Rget(call->buffers.receive + transfer->local, call->message.count, call->message.type, transfer->rank,
                    transfer->place, call->message.count, call->message.type, window, request);
}

static int blocking(struct call *call) {
    return run_transfers(call, get);
}

static int nonblocking(struct call *call) {
    return run_transfers(call, request_get);
}

/* --- rows --- */

#define GET \
    MOVES, .rma.kind = GETS, .standard = "MPI-4.1 12.3.2", .hooks.prepare = make_target, .hooks.refuse = refuse_target, \
           .forms = {blocking, nonblocking}
#define ENDS "; nonblocking: by MPI_Rget and MPI_Wait"

static const struct operation once = {
    .name = "get",
    .help = "one rank gets data from another's memory, until complete" ENDS,
    GET,
    TO_SECOND,
    TO_ROOT({.base = 1}),
};

static const struct operation bandwidth = {
    .name = "get-bandwidth",
    .help = "one rank gets a window of messages from another's memory, until complete" ENDS,
    GET,
    MANY_TO_SECOND,
    TO_ROOT(EACH_MESSAGE),
};

static const struct operation bidirectional = {
    .name = "get-bidirectional",
    .help = "two ranks get a window of messages from each other's memory, until complete" ENDS,
    GET,
    BOTH_WAYS,
};

static const struct operation pairs = {
    .name = "get-pairs",
    .help = "the first of each pair of ranks gets a window of messages from the second's memory, until complete" ENDS,
    GET,
    IN_PAIRS,
};

static const struct operation exchange = {
    .name = "get-exchange",
    .help = "every rank gets a message from both neighbours in the ring of all ranks, until complete" ENDS,
    GET,
    WITH_NEIGHBOURS,
};

static const struct operation one_to_all = {
    .name = "get-one-to-all",
    .help = "one rank gets a message from the memory of every other rank, until complete" ENDS,
    GET,
    TO_OTHERS,
    .amounts.root_receive = EACH_MESSAGE,
    .amounts.send = {.base = 1},
};

static const struct operation all_to_all = {
    .name = "get-all-to-all",
    .help = "every rank gets a message from the memory of every other rank, until complete" ENDS,
    GET,
    WITH_ALL_OTHERS,
};
REGISTER(operation, once);
REGISTER(operation, bandwidth);
REGISTER(operation, bidirectional);
REGISTER(operation, pairs);
REGISTER(operation, exchange);
REGISTER(operation, one_to_all);
REGISTER(operation, all_to_all);
