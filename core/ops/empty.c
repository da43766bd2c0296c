#include "base/op.h"

static int blocking(struct call *call) {
    (void)call;
    return MPI_SUCCESS;
}

static const struct operation empty = {
    .name = "empty",
    .help = "no call: the cost of the timing itself",
    .standard = "none",
    .kind = KIND_SELF_TEST,
    .metric = METRIC_TIME,
    .timing.rank_0_measures = true,
    .timing.start = "none",
    .unchecked = "it calls nothing",
    .forms = {blocking},
};
REGISTER(operation, empty);
