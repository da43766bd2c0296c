/* MPI_Init can be called once per launch: the core times its own call. */
#include "base/op.h"
#include "base/startup.h"

static int64_t read_once_ns(void) {
    return startup_ns;
}

static int blocking(struct call *call) {
    (void)call;
    return MPI_SUCCESS;
}

static const struct operation init = {
    .name = "init",
    .help = "MPI_Init or MPI_Init_thread, once per launch: the time of the slowest rank",
    .standard = "MPI-4.1 11.2.1",
    .kind = KIND_PROCESS,
    .metric = METRIC_TIME,
    .timing.start = "none",
    .hooks.read_once_ns = read_once_ns,
    .unchecked = "it precedes all checks; every other case shows that it worked",
    .forms = {blocking},
};
REGISTER(operation, init);
