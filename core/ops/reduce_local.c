#include "base/op.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Reduce_local(call->buffers.send, call->buffers.receive, call->message.count, call->message.type,
                            call->message.reduction);
}

static void fill(struct call *call) {
    fill_terms(call, call->buffers.send, call->message.count, 0, 0);
    fill_terms(call, call->buffers.receive, call->message.count, 0, 1);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_reduced(call, call->buffers.receive, call->message.count, 0, 0, 1, mismatch);
}

static const struct operation reduce_local = {
    .name = "reduce_local",
    .help = "numbers of two buffers reduced, without messages",
    .standard = "MPI-4.1 6.9.7",
    .kind = KIND_LOCAL,
    .metric = METRIC_TIME,
    SENDS({.base = 1}),
    RECEIVES({.base = 1}),
    .data.sized = true,
    .data.datatypes = NUMBERS,
    .timing.rank_0_measures = true,
    .data.accumulates = true,
    .timing.threads = true,
    .timing.start = "none",
    .forms = {blocking},
    .hooks.fill = fill,
    .hooks.check = check,
};
REGISTER(operation, reduce_local);
