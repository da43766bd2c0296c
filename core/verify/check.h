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
/* Checks the present data. */
void inspect(const struct setting *setting);

/* Checks the present data of a worker; and right after a call, before others let the library deliver what is missing. */
void inspect_worker(const struct setting *setting, struct worker *worker);
void inspect_worker_at_return(struct worker *worker);
/* Whether others access the memory of this worker without a call of its own. */
bool is_passive(const struct worker *worker);

/* One call with new data, whose data are checked. */
void check_call(const struct setting *setting);
/* The same, repeated with longer times while the check of late delivery is inconclusive. Returns the time of the call. */
double check_until_conclusive(const struct setting *setting);
/* A rank makes its checked calls late by this time from now on. */
void delay_checked_calls(int rank, int64_t late_ns);

#endif
