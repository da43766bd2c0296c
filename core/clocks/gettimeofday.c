#define _GNU_SOURCE
#include <sys/time.h>

#include "base/op.h"

static int64_t read_ns(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * 1000000000 + (int64_t)now.tv_usec * 1000;
}

static const struct source gettimeofday_source = {
    .name = "gettimeofday",
    .help = "the time of day in microseconds, as in older programs; it jumps when the system's clock is set",
    .sharing = SHARED_BY_KERNEL,
    .read_ns = read_ns,
};
REGISTER(source, gettimeofday_source);
