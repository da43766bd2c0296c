/* Whether data of a one-sided call are in the memory of the target when the call returns, and not only when its rank
 * calls MPI again.
 *
 *   origin   | call | no call of MPI ........................... |
 *   target   | waits            | no call of MPI, checks memory |
 *
 * Ranks signal this without the library: on one host by shared memory, between hosts by their clocks. */
#ifndef RANKBENCH_COMPLETION_H
#define RANKBENCH_COMPLETION_H

#include "verify/setting.h"

struct completion_check;

/* Called by all ranks of the world; NULL: the system gave no memory. */
struct completion_check *open_completion_check(const struct world *world, bool separate_clocks);
void close_completion_check(struct completion_check *completion_check);

/* Called by all ranks of the team before a call, with a barrier in between, and after it. `end_completion_check`
 * returns on all of them whether the check was conclusive: a rank that loses its CPU may check too early or too late,
 * and one that needs calls of others ends the wait. */
void begin_completion_check(const struct setting *setting);
bool end_completion_check(const struct setting *setting);
/* Doubles the times of later checks; returns false if they were doubled often enough. */
bool lengthen_completion_check(const struct setting *setting);
void shorten_completion_check(const struct setting *setting);
/* Called by ranks that take part, right after the call; sets `late` of the worker. */
void check_completion(const struct setting *setting, struct worker *worker, int64_t began_ns);

#endif
