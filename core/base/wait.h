/* How a rank waits for a moment. */
#ifndef RANKBENCH_WAIT_H
#define RANKBENCH_WAIT_H

#include "base/op.h"

/* Waits for a moment of the own clock and returns the reading that ended it. */
int64_t wait_until(const struct stage *stage, int64_t target_ns);

#endif
