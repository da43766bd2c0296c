/* Order of entries to and returns from a call, on synchronised clocks: a call that must wait for other ranks is tested
 * with one of them late. */
#ifndef RANKBENCH_ORDER_H
#define RANKBENCH_ORDER_H

#include "verify/setting.h"

/* How late a rank is before and after timing, and between stages. */
enum { LATE_NS = 200000, LATE_BETWEEN_STAGES_NS = 100000 };

/* Two ranks that exchange messages: the ranks of an operation between two, or consecutive ranks; the last of an odd number
 * is its own partner. */
struct pair {
    int other, bytes;
    bool sends;
};

/* Messages of the case, but of at most so many bytes. `upper`: from the larger rank to the smaller one. */
struct pair find_pair(const struct setting *setting, long most_bytes, bool upper);

/* Called by all ranks of the team: synchronises their clocks. */
void synchronise_for_order(const struct setting *setting);
/* Informs a rank that this one is about to call. */
void announce(const struct setting *setting, int rank);
void wait_for_announcement(const struct setting *setting, int rank);
/* Waits by this time, which is longer than others need to return without this rank, and longer than clocks may differ;
 * returns the own clock. */
int64_t wait_late(const struct setting *setting, int64_t late_ns);
/* A time of the own clock on rank 0's, at the earliest and at the latest. */
int64_t find_earliest_ns(const struct setting *setting, int64_t local_ns);
int64_t find_latest_ns(const struct setting *setting, int64_t local_ns);

#endif
