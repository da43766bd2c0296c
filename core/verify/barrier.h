/* Check of calls such as a barrier, from which no rank may return before all have entered. */
#ifndef RANKBENCH_BARRIER_H
#define RANKBENCH_BARRIER_H

#include "verify/setting.h"

/* Called by all ranks of the team. `run` makes one complete call. */
void check_barrier(const struct setting *setting, int (*run)(struct call *));
/* Fewer calls, with the clocks as they are, between stages. */
void check_barrier_again(const struct setting *setting, int (*run)(struct call *));

#endif
