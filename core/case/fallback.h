/* Whether the library replaced a requested algorithm that it cannot use. */
#ifndef RANKBENCH_FALLBACK_H
#define RANKBENCH_FALLBACK_H

#include "verify/outcome.h"

/* From now on the library reports replacements, if it can and if `settings` or the environment request an algorithm.
 * Calls must not be timed meanwhile: standard error goes to memory. */
void watch_fallback(const char *settings);
/* Ends this, prints other text from standard error, and stores the report in `outcome->fallback`; empty: none. */
void end_fallback_watch(struct outcome *outcome);

#endif
