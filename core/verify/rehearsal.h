/* What is checked before and after a case is timed. */
#ifndef RANKBENCH_REHEARSAL_H
#define RANKBENCH_REHEARSAL_H

#include "verify/setting.h"

/* Calls twice with different data (once at later visits of the case), so that data of the first call do not pass for
 * those of the second. If one call uses up the time limit, the second call is the timed one, and the time of the first
 * is returned, else 0. */
double rehearse(const struct setting *setting);
/* At the first visit of a case: checks calls that differ from its own, unless only its own have its settings. */
void check_other_calls(const struct setting *setting);
/* Checks the data of timed calls, and one more call with new data: a library that stopped working would have left older
 * data. `long_ns` is the result of `rehearse`. */
void check_after_timing(const struct setting *setting, double long_ns);

#endif
