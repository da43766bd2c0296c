/* Operations without messages and with a known time, to test the measurement. MPIPerf calls them WaitPatternNull and
 * WaitPatternUp. */
#include "base/op.h"
#include "base/steady.h"

static int wait_null(struct call *call) {
    (void)call;
    return MPI_SUCCESS;
}

/* By a clock that is independent of the time source under test. */
static int wait_up(struct call *call) {
    const int64_t until_ns = read_steady_ns() + 1000 * (call->peers.rank + 1);
    while (read_steady_ns() < until_ns)
        continue;
    return MPI_SUCCESS;
}

#define WAITS \
    .standard = "none", .kind = KIND_SELF_TEST, .metric = METRIC_TIME, .timing.start = "window", .unchecked = "it calls nothing"

static const struct operation null = {
    .name = "wait-null",
    .help = "no rank does anything: the true time is 0",
    WAITS,
    .forms = {wait_null},
};

static const struct operation up = {
    .name = "wait-up",
    .help = "rank i waits i + 1 microseconds: the true time in microseconds is the number of ranks",
    WAITS,
    .forms = {wait_up},
};
REGISTER(operation, null);
REGISTER(operation, up);
