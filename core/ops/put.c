#include "base/choices.h"
#include "base/steady.h"
#include "kit/target.h"

enum { TAG = 1, WAITING = 0, MOST_BUSY_US = 10000000 };

static int put(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    (void)request;
    return MPI_Put(call->buffers.send + transfer->local, call->message.count, call->message.type, transfer->rank, transfer->place,
                   call->message.count, call->message.type, window);
}

static int request_put(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    return MPI_Rput(call->buffers.send + transfer->local, call->message.count, call->message.type, transfer->rank,
                    transfer->place, call->message.count, call->message.type, window, request);
}

static int blocking(struct call *call) {
    return run_transfers(call, put);
}

static int nonblocking(struct call *call) {
    return run_transfers(call, request_put);
}

/* --- targets that compute --- */

static const struct choice target_choice = {
    "target", "what the target does meanwhile: wait in MPI, or compute without calling MPI", NAMES_OF("waiting", "computing")};
static const struct choice busy_choice = {"busy_us", "computing time of the target in microseconds", .least = 1,
                                          .most = MOST_BUSY_US, .usual = 100};

static int prepare_passive(struct call *call) {
    const int code = make_target(call);
    if (call->peers.rank == call->peers.second && read_choice(call, &target_choice) != WAITING)
        get_target(call)->busy_ns = 1000 * read_choice(call, &busy_choice);
    return code;
}

/* By a clock, not by work, since it must be long enough on every machine. */
static int put_to_busy_target(struct call *call) {
    const int64_t busy_ns = get_target(call)->busy_ns, until_ns = busy_ns > 0 ? read_steady_ns() + busy_ns : 0;
    while (busy_ns > 0 && read_steady_ns() < until_ns)
        continue;
    return run_transfers(call, put);
}

/* For every start, the target waits in MPI until the origin is done. */
static int wait_for_origin(struct call *call) {
    if (call->peers.rank == call->peers.second)
        return MPI_Recv(NULL, 0, MPI_BYTE, call->peers.first, TAG, call->peers.comm, MPI_STATUS_IGNORE);
    const int code = complete_at_target(call);
    return code ? code : MPI_Send(NULL, 0, MPI_BYTE, call->peers.second, TAG, call->peers.comm);
}

/* --- rows --- */

#define PUT \
    MOVES, .data.sends_alone = true, .standard = "MPI-4.1 12.3.1", .hooks.prepare = make_target, .hooks.refuse = refuse_target, \
           .forms = {blocking, nonblocking}, .hooks.after = complete_at_target
#define ENDS "; nonblocking: by MPI_Rput and MPI_Wait"

static const struct operation once = {
    .name = "put",
    .help = "one rank puts data into another's memory, until complete at the target" ENDS,
    PUT,
    TO_SECOND,
    FROM_ROOT({.base = 1}),
};

static const struct operation bandwidth = {
    .name = "put-bandwidth",
    .help = "one rank puts a window of messages into another's memory, until complete at the target" ENDS,
    PUT,
    MANY_TO_SECOND,
    FROM_ROOT(EACH_MESSAGE),
};

static const struct operation bidirectional = {
    .name = "put-bidirectional",
    .help = "two ranks put a window of messages into each other's memory, until complete at the target" ENDS,
    PUT,
    BOTH_WAYS,
};

static const struct operation pairs = {
    .name = "put-pairs",
    .help =
        "the first of each pair of ranks puts a window of messages into the second's memory, until complete at the target" ENDS,
    PUT,
    IN_PAIRS,
};

static const struct operation exchange = {
    .name = "put-exchange",
    .help = "every rank puts a message to both neighbours in the ring of all ranks, until complete at the target" ENDS,
    PUT,
    WITH_NEIGHBOURS,
};

static const struct operation one_to_all = {
    .name = "put-one-to-all",
    .help = "one rank puts a message into the memory of every other rank, until complete at the target" ENDS,
    PUT,
    TO_OTHERS,
    .amounts.root_send = EACH_MESSAGE,
    .amounts.receive = {.base = 1},
};

static const struct operation all_to_all = {
    .name = "put-all-to-all",
    .help = "every rank puts a message into the memory of every other rank, until complete at the target" ENDS,
    PUT,
    WITH_ALL_OTHERS,
};

static const struct operation passive = {
    .name = "put-passive",
    .help = "one rank puts data into the memory of another, which may compute: shows whether the target must call MPI",
    MOVES,
    .standard = "MPI-4.1 12.7.3",
    .data.sends_alone = true,
    .metric = METRIC_TIME,
    .ranks.between_two = true,
    .rma.pattern = first_to_second,
    .timing.rank_0_measures = true,
    .timing.start = "barrier",
    FROM_ROOT({.base = 1}),
    CHOICES(&target_choice, &busy_choice, &allocation_choice, &epoch_choice),
    .hooks.refuse = refuse_active_targets,
    .forms = {put_to_busy_target},
    .hooks.prepare = prepare_passive,
    .hooks.after = wait_for_origin,
};
REGISTER(operation, once);
REGISTER(operation, bandwidth);
REGISTER(operation, bidirectional);
REGISTER(operation, pairs);
REGISTER(operation, exchange);
REGISTER(operation, one_to_all);
REGISTER(operation, all_to_all);
REGISTER(operation, passive);
