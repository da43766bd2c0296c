#define _GNU_SOURCE
#include <time.h>

#include "base/op.h"

static int64_t read_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static const struct source clock_gettime_source = {
    .name = "clock_gettime",
    .help =
        "CLOCK_MONOTONIC_RAW: in nanoseconds, never set or slewed, one clock for all ranks under one kernel and time namespace",
    .sharing = SHARED_BY_NAMESPACE,
    .read_ns = read_ns,
};
REGISTER(source, clock_gettime_source);
