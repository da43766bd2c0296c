/* CLOCK_MONOTONIC, which is never set: time limits are kept by it, and it shows whether a time source was set in mid-case. */
#ifndef RANKBENCH_STEADY_H
#define RANKBENCH_STEADY_H

#include "base/op.h"

int64_t read_steady_ns(void);

/* What a time source and the steady clock read at one moment, which lasted `apart_ns`. */
struct twin_reading {
    int64_t source_ns, steady_ns, apart_ns;
};

struct twin_reading read_both(const struct source *source);

/* By how much the source was set forward (or back, if negative) since; 0: it went on evenly. */
int64_t measure_jump_ns(const struct twin_reading *before, const struct source *source);

#endif
