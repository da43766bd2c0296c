#include "base/op.h"
#include "base/tree.h"

static bool begin(struct stage *stage, int round) {
    (void)round;
    dissemination_barrier(stage->team);
    return true;
}

static const struct start barrier_start = {
    .name = "barrier",
    .help = "after a dissemination barrier of the core; ranks leave it at different times",
    .lead = 2,
    .begin = begin,
};
REGISTER(start, barrier_start);
