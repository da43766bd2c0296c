/* Rounds begin at agreed times on the synchronised clock, one window apart. A rank that begins later than it should, because it
 * came too late or lost its CPU while it waited, says so, and every reader of the samples knows. */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include "op.h"

/* A start is late beyond a few readings of the clock and a twentieth of the window. */
enum { TOLERANCE_NS = 100, TOLERANCE_SHARE = 20, NAP_NS = 200000, AWAKE_NS = 100000 };

/* Ranks that share a CPU sleep until shortly before: the kernel gives it to them at once when they wake, to spinning ones late. */
static void give_way(int64_t left_ns) {
    const struct timespec nap = {.tv_sec = (left_ns - AWAKE_NS) / 1000000000, .tv_nsec = (left_ns - AWAKE_NS) % 1000000000};
    if (left_ns > NAP_NS)
        nanosleep(&nap, NULL);
    else
        sched_yield();
}

static bool begin(struct stage *stage, int round) {
    const int64_t target = stage->first_ns + stage->offset_ns + round * stage->window_ns;
    int64_t now = stage->read_ns();
    while (now < target) {
        if (stage->yields)
            give_way(target - now);
        now = stage->read_ns();
    }
    stage->target_ns = target;
    return now - target <= TOLERANCE_NS + stage->window_ns / TOLERANCE_SHARE;
}

static const struct start window = {
    .name = "window",
    .help = "at agreed times on the synchronised clock; late starts are discarded",
    .scheduled = true,
    .begin = begin,
};
REGISTER(start, window);
