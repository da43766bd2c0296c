/* Waiting until a time. */
#ifndef RANKBENCH_WAIT_H
#define RANKBENCH_WAIT_H

#include "base/op.h"

/* Waits until a time of the own clock; returns the last reading. */
int64_t wait_until(const struct stage *stage, int64_t target_ns);

#endif
