#include "base/op.h"
#include "kit/data.h"

static int blocking(struct call *call) {
    return MPI_Reduce_local(call->send, call->receive, call->count, call->type, call->reduction);
}

static void fill(struct call *call) {
    fill_terms(call, call->send, call->count, 0, 0);
    fill_terms(call, call->receive, call->count, 0, 1);
}

static void check(const struct call *call, struct mismatch *mismatch) {
    check_reduced(call, call->receive, call->count, 0, 0, 1, mismatch);
}

static const struct operation reduce_local = {
    .name = "reduce_local",
    .help = "numbers reduced with those of another buffer, without any message",
    .standard = "MPI-4.1 6.9.7",
    .kind = "local",
    .metric = "time",
    SENDS({.base = 1}),
    RECEIVES({.base = 1}),
    .sized = true,
    .datatypes = NUMBERS,
    .rank_0_measures = true,
    .accumulates = true,
    .threads = true,
    .start = "none",
    .forms = {blocking},
    .fill = fill,
    .check = check,
};
REGISTER(operation, reduce_local);
