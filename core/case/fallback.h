/* fallback.c: whether the library left a requested algorithm, of what it cannot serve, for another one. */
#ifndef RANKBENCH_FALLBACK_H
#define RANKBENCH_FALLBACK_H

#include "verify/outcome.h"

/* From here on the library reports it, if it can and if `settings` or the environment request an algorithm. Calls must not be timed
 * meanwhile: standard error goes to memory. */
void watch_fallback(const char *settings);
/* Ends that, prints what else came to standard error, and keeps the report in `outcome->fallback`; empty: none. */
void end_fallback_watch(struct outcome *outcome);

#endif
