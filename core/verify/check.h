/* Calls with checked data: before and after timing, and between stages. */
#ifndef RANKBENCH_CHECK_H
#define RANKBENCH_CHECK_H

#include "verify/setting.h"

/* Makes one complete call. */
typedef int run_function(struct call *call);

run_function *choose_run(const struct plan *plan);
/* The same for timed calls, which also free what they make if the case says so. */
run_function *choose_timed_run(const struct setting *setting);

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

/* Checks the present data of a worker. */
void inspect_worker(const struct setting *setting, struct worker *worker);

/* One call with new data, whose data are checked. */
void check_call(const struct setting *setting);
/* The same, repeated with longer times while the check of late delivery is inconclusive. Returns the time of the call. */
double check_until_conclusive(const struct setting *setting);
/* A rank makes its checked calls late by this time from now on. */
void delay_checked_calls(int rank, int64_t late_ns);

#endif
