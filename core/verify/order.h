/* When ranks came to a call and when it returned, on one clock for all: a call that promises to wait for others is checked by
 * letting one of them come late. */
#ifndef RANKBENCH_ORDER_H
#define RANKBENCH_ORDER_H

#include "verify/setting.h"

/* Called by all ranks of the team: compares their clocks. */
void synchronise_for_order(const struct setting *setting);
/* Says to a rank that this one is about to call. */
void announce(const struct setting *setting, int rank);
void wait_for_announcement(const struct setting *setting, int rank);
/* Waits for as long as others would need to return without this rank; returns the own clock. */
int64_t wait_late(const struct setting *setting);
/* A moment of the own clock on rank 0's, as early or as late as it can have been. */
int64_t find_earliest_ns(const struct setting *setting, int64_t local_ns);
int64_t find_latest_ns(const struct setting *setting, int64_t local_ns);

#endif
