#include "kit/data.h"
#include "kit/target.h"

static int fetch_and_op(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    struct target *target = get_target(call);
    (void)request;
    return MPI_Fetch_and_op(target->operands[0].bytes, target->result.bytes, call->message.datatype->basic, transfer->rank,
                            transfer->place, call->message.reduction, window);
}

static int blocking(struct call *call) {
    return run_transfers(call, fetch_and_op);
}

static void fill(struct call *call) {
    struct target *target = get_target(call);
    fill_terms(call, call->peers.rank == call->peers.second ? target->memory : target->operands[0].bytes, 1, 0, call->peers.rank);
    synchronise_memory(call);
}

/* The target holds the sum of both numbers, and the origin got the old one. */
static void check(const struct call *call, struct mismatch *mismatch) {
    const bool origin = call->peers.rank == call->peers.first;
    struct target *target = get_target(call);
    struct call one_element = *call;
    synchronise_memory(call);
    one_element.buffers.receive = origin ? target->result.bytes : target->memory;
    check_reduced(&one_element, one_element.buffers.receive, 1, 0, origin ? call->peers.second : 0,
                  origin ? call->peers.second : call->peers.ranks - 1, mismatch);
}

static const struct operation row = {
    .name = "fetch_and_op",
    .help = "one rank adds a number to one in another's memory, and gets the old value",
    ON_ELEMENT,
    .standard = "MPI-4.1 12.3.4",
    .data.datatypes = NUMBERS,
    .hooks.refuse = refuse_reduction,
    .forms = {blocking},
    .hooks.prepare = make_element_target,
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, row);
