/* Calls from which no rank may return before all have come, such as a barrier. */
#ifndef RANKBENCH_BARRIER_H
#define RANKBENCH_BARRIER_H

#include "verify/setting.h"

/* Called by all ranks of the team. `run` is one whole call. */
void check_barrier(const struct setting *setting, int (*run)(struct call *));

#endif
