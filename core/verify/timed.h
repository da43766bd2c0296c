/* Checks while calls are timed: between rounds, after stages, and of data that are renewed between stages. */
#ifndef RANKBENCH_TIMED_H
#define RANKBENCH_TIMED_H

#include "timing/measurement.h"
#include "verify/setting.h"

extern const struct checks timed_checks;
/* Whether every call delivers the same data again, to memory of this rank alone. */
bool repeats_data(const struct setting *setting);

#endif
