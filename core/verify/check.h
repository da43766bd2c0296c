/* Calls whose data are checked: before and after timing, and between its stages. */
#ifndef RANKBENCH_CHECK_H
#define RANKBENCH_CHECK_H

#include "verify/setting.h"

/* What one whole call is. */
int (*choose_run(const struct plan *plan))(struct call *);

/* New data to time with. */
void renew_data(const struct setting *setting);
/* In timing: before a call, what was received is overwritten; and right after it, what is there is looked at. */
void clear_all_received(const struct setting *setting);
void inspect_at_return(const struct setting *setting);
/* In timing: after a stage, what this rank has by its own return must be right, as far as little time allows. */
void inspect_stage(const struct setting *setting);
/* Whether every call brings this rank the same again, in memory that is its own. */
bool repeats_data(const struct setting *setting);
/* What the first worker received is right, and is what later calls are compared with; or a difference from it is judged. */
void keep_reference_data(const struct setting *setting);
void judge_difference(const struct setting *setting);
/* In timing: what the first worker's receives of a round reported is right, or wrong data. */
void judge_receipts(const struct setting *setting);
/* Between stages: whether data are renewed and looked at, and the look. What others put into a rank's memory needs a call of its own. */
bool can_inspect_stages(const struct setting *setting);
void inspect_between_stages(const struct setting *setting);
/* What is there must be right. */
void inspect(const struct setting *setting);

/* Twice with different data (once where this launch measured the case before), so that what was left from the first call cannot
 * pass for the second one's result. Where one call spends the time limit, the second is the one that is timed; how long the first
 * took is returned then, else 0. */
double rehearse(const struct setting *setting);
/* What timing left behind must be right, and so must one more call with other data: a library that stopped doing anything
 * would have left what an earlier call brought. `long_ns` is what `rehearse` returned. */
void check_after_timing(const struct setting *setting, double long_ns);

#endif
