/* MPI_Init can be called once in a launch: the core times it where it calls it. */
#include "base/op.h"
#include "base/startup.h"

static int64_t once_ns(void) {
    return startup_ns;
}

static int blocking(struct call *call) {
    (void)call;
    return MPI_SUCCESS;
}

static const struct operation init = {
    .name = "init",
    .help = "MPI_Init or MPI_Init_thread, once in a launch: as long as it took the rank that it took longest",
    .standard = "MPI-4.1 11.2.1",
    .kind = KIND_PROCESS,
    .metric = METRIC_TIME,
    .timing.start = "none",
    .hooks.once_ns = once_ns,
    .unchecked = "it has happened before the core can look; every other case shows that it worked",
    .forms = {blocking},
};
REGISTER(operation, init);
