/* Rounds begin at agreed times on the synchronised clock, one window apart. A round for which some rank came too late is
 * known to every reader of the samples, because that rank says so. */
#define _GNU_SOURCE
#include <sched.h>

#include "op.h"

static bool begin(struct stage *stage, int round) {
    const int64_t target = stage->first_ns + stage->offset_ns + round * stage->window_ns;
    int64_t now = stage->read_ns();
    const bool in_time = now <= target;
    while (now < target) {
        if (stage->yields)
            sched_yield();
        now = stage->read_ns();
    }
    stage->target_ns = target;
    return in_time;
}

static const struct start window = {
    .name = "window",
    .help = "at agreed times on the synchronised clock; late starts are discarded",
    .scheduled = true,
    .begin = begin,
};
REGISTER(start, window);
