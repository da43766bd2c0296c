/* CLOCK_MONOTONIC, which is never set: used for time limits, and to detect that a time source was set during a case. */
#ifndef RANKBENCH_STEADY_H
#define RANKBENCH_STEADY_H

#include "base/op.h"

int64_t read_steady_ns(void);

/* Readings of a time source and of the steady clock at one moment, with an uncertainty of `apart_ns`. */
struct twin_reading {
    int64_t source_ns, steady_ns, apart_ns;
};

struct twin_reading read_both(const struct source *source);

/* How far the source was set forward (negative: back) since `before`; 0: it was not set. */
int64_t measure_jump_ns(const struct twin_reading *before, const struct source *source);

#endif
