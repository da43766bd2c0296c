#include "kit/target.h"

static int accumulate(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    (void)request;
    return MPI_Accumulate(call->buffers.send, call->message.count, call->message.type, transfer->rank, transfer->place,
                          call->message.count, call->message.type, call->message.reduction, window);
}

static int request_accumulate(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    return MPI_Raccumulate(call->buffers.send, call->message.count, call->message.type, transfer->rank, transfer->place,
                           call->message.count, call->message.type, call->message.reduction, window, request);
}

static int blocking(struct call *call) {
    return run_transfers(call, accumulate);
}

static int nonblocking(struct call *call) {
    return run_transfers(call, request_accumulate);
}

#define ACCUMULATE \
    ADDITION, .standard = "MPI-4.1 12.3.4", .forms = {blocking, nonblocking}, \
        .hooks.prepare = make_target, .hooks.after = complete_at_target, .hooks.check = check_added
#define ENDS "; nonblocking: by MPI_Raccumulate and MPI_Wait"

static const struct operation once = {
    .name = "accumulate",
    .help = "one rank adds data to another's memory, until complete at the target" ENDS,
    ACCUMULATE,
    TO_SECOND,
    FROM_ROOT({.base = 1}),
};

static const struct operation all_to_one = {
    .name = "accumulate-all-to-one",
    .help = "all other ranks add data to the memory of one rank, until complete at the target" ENDS,
    ACCUMULATE,
    ONE_BY_ONE,
    ALL_MEASURE,
    .ranks.least = 2,
    .rma.pattern = others_to_root,
    TO_ROOT({.base = 1}),
};
REGISTER(operation, once);
REGISTER(operation, all_to_one);
