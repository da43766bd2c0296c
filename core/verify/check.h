/* Calls with checked data: before and after timing, and between stages. */
#ifndef RANKBENCH_CHECK_H
#define RANKBENCH_CHECK_H

#include "verify/setting.h"

/* Returns the function that makes one complete call. */
int (*choose_run(const struct plan *plan))(struct call *);

/* Renews the data for timed calls. */
void renew_data(const struct setting *setting);
/* During timing, before a round: changes the data, and overwrites a few received bytes or all; after it: checks them. */
void begin_round(const struct setting *setting, bool clears);
void inspect_at_return(const struct setting *setting);
/* During timing: checks this rank's data after a stage, if there is time. */
void inspect_stage(const struct setting *setting);
/* Whether every call delivers the same data again, to memory of this rank alone. */
bool repeats_data(const struct setting *setting);
/* Stores the received data as right, for comparison with later calls; and checks a difference from them. */
void keep_reference_data(const struct setting *setting);
void judge_difference(const struct setting *setting);
/* During timing: checks the statuses of the first worker's receives of a round. */
void judge_receipts(const struct setting *setting);
/* Between stages: whether data are renewed and checked, and the check. Passive targets need an extra call. */
bool can_inspect_stages(const struct setting *setting);
void inspect_between_stages(const struct setting *setting);
/* Checks the present data. */
void inspect(const struct setting *setting);

/* Calls twice with different data (once at later visits of the case), so that data of the first call do not pass for
 * those of the second. If one call uses up the time limit, the second call is the timed one, and the time of the first
 * is returned, else 0. */
double rehearse(const struct setting *setting);
/* Checks the data of timed calls, and one more call with new data: a library that stopped working would have left older
 * data. `long_ns` is the result of `rehearse`. */
void check_after_timing(const struct setting *setting, double long_ns);

#endif
