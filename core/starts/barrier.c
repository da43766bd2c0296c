#include "base/op.h"
#include "base/tree.h"

static bool begin(struct stage *stage, int round) {
    (void)round;
    dissemination_barrier(stage->team);
    return true;
}

static const struct start barrier_start = {
    .name = "barrier",
    .help = "after a dissemination barrier of our own; ranks leave it at different moments",
    .lead = 2,
    .begin = begin,
};
REGISTER(start, barrier_start);
