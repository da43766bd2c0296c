/* Order of entries to and returns from a call, on synchronised clocks: a call that must wait for other ranks is tested
 * with one of them late. */
#ifndef RANKBENCH_ORDER_H
#define RANKBENCH_ORDER_H

#include "verify/setting.h"

/* Called by all ranks of the team: synchronises their clocks. */
void synchronise_for_order(const struct setting *setting);
/* Informs a rank that this one is about to call. */
void announce(const struct setting *setting, int rank);
void wait_for_announcement(const struct setting *setting, int rank);
/* Waits longer than others would need to return without this rank; returns the own clock. */
int64_t wait_late(const struct setting *setting);
/* A time of the own clock on rank 0's, at the earliest and at the latest. */
int64_t find_earliest_ns(const struct setting *setting, int64_t local_ns);
int64_t find_latest_ns(const struct setting *setting, int64_t local_ns);

#endif
