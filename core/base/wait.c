/* Waits by spinning, or yields to other ranks on the same CPU. */
#define _GNU_SOURCE
#include "base/wait.h"

#include <sched.h>
#include <time.h>

#include "base/tree.h"

enum { NAP_NS = 200000, AWAKE_NS = 100000, LONGEST_WINDOWS = 16 };
/* Time before the start in which only the clock is read. A call that finds nothing takes less than a microsecond in shared
 * memory, and a few over TCP, so that all ranks still start together. */
enum { CALM_NS = 10000 };
static const int64_t LONGEST_NS = 5000000000;

/* Ranks that share a CPU sleep until shortly before the time: the kernel runs a waking process at once, but a spinning
 * one late. */
static void yield_cpu(int64_t left_ns) {
    const struct timespec nap = {.tv_sec = (left_ns - AWAKE_NS) / 1000000000, .tv_nsec = (left_ns - AWAKE_NS) % 1000000000};
    if (left_ns > NAP_NS)
        nanosleep(&nap, NULL);
    else
        sched_yield();
}

/* The wait is bounded, in case the clock was set back; that case fails anyway. */
int64_t wait_until(const struct stage *stage, int64_t target_ns) {
    const int64_t longest_ns = LONGEST_NS + LONGEST_WINDOWS * (stage->window_ns + stage->slack_ns);
    int64_t now_ns = stage->read_ns();
    while (now_ns < target_ns && target_ns - now_ns < longest_ns) {
        if (stage->calls && target_ns - now_ns > CALM_NS)
            give_progress(stage->team);
        if (stage->yields)
            yield_cpu(target_ns - now_ns);
        now_ns = stage->read_ns();
    }
    return now_ns;
}
