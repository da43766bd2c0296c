#include "kit/data.h"
#include "kit/target.h"

/* Every call finds the number that it compares with, so that every call swaps: two operands alternate. */
static int compare_and_swap(struct call *call, MPI_Win window, const struct transfer *transfer, MPI_Request *request) {
    struct target *target = get_target(call);
    /* Not const, since SimGrid's MPI_Compare_and_swap takes it so. */
    unsigned char *const expected = target->operands[target->turn].bytes;
    (void)request;
    target->turn ^= 1;
    return MPI_Compare_and_swap(target->operands[target->turn].bytes, expected, target->result.bytes,
                                call->message.datatype->basic, transfer->rank, transfer->place, window);
}

static int blocking(struct call *call) {
    return run_transfers(call, compare_and_swap);
}

/* Two of three numbers are the operands. At the first check the target holds the third one, so that nothing may be
 * swapped. */
enum { EXPECTED, DESIRED, STRANGE };

static void fill_number(const struct call *call, unsigned char *number, unsigned which) {
    fill_bytes(number, call->message.datatype->bytes, call->seed + which);
}

static void fill(struct call *call) {
    struct target *target = get_target(call);
    target->swaps = target->filled;
    target->filled = true;
    target->turn = 0;
    fill_number(call, target->operands[0].bytes, EXPECTED);
    fill_number(call, target->operands[1].bytes, DESIRED);
    if (call->peers.rank == call->peers.second)
        fill_number(call, target->memory, target->swaps ? EXPECTED : STRANGE);
    synchronise_memory(call);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    const struct target *target = get_target(call);
    const bool origin = call->peers.rank == call->peers.first;
    const unsigned which = !target->swaps ? STRANGE : origin ? EXPECTED : DESIRED;
    synchronise_memory(call);
    check_bytes(origin ? target->result.bytes : target->memory, call->message.datatype->bytes, call->seed + which, 0, mismatch);
}

static const struct operation row = {
    .name = "compare_and_swap",
    .help = "one rank replaces a number in another's memory if it has the expected value, and gets the old value",
    ON_ELEMENT,
    .standard = "MPI-4.1 12.3.4",
    .data.datatypes = WHOLE_NUMBERS,
    .hooks.refuse = refuse_target,
    .forms = {blocking},
    .hooks.prepare = make_element_target,
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, row);
