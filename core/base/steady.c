#define _GNU_SOURCE
#include "base/steady.h"

#include <stdlib.h>
#include <time.h>

/* The rate of a clock that is slewed, not set, changes by at most 1/2000. */
enum { TRIES = 20, LEAST_JUMP_NS = 1000000, EVEN_PARTS = 1000 };

int64_t read_steady_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Takes the pair of readings with the shortest time in between, so that an interruption has no effect. */
struct twin_reading read_both(const struct source *source) {
    struct twin_reading best = {.apart_ns = INT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        const int64_t before_ns = read_steady_ns(), source_ns = source->read_ns(), apart_ns = read_steady_ns() - before_ns;
        if (apart_ns < best.apart_ns)
            best = (struct twin_reading){source_ns, before_ns, apart_ns};
    }
    return best;
}

int64_t measure_jump_ns(const struct twin_reading *before, const struct source *source) {
    const struct twin_reading now = read_both(source);
    const int64_t passed_ns = now.steady_ns - before->steady_ns, more_ns = now.source_ns - before->source_ns - passed_ns;
    const int64_t allowed_ns = LEAST_JUMP_NS + passed_ns / EVEN_PARTS + before->apart_ns + now.apart_ns;
    return llabs(more_ns) > allowed_ns ? more_ns : 0;
}
