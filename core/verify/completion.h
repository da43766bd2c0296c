/* Whether data are in the memory of another rank when a call returns that puts them there, and not only when its rank calls MPI again.
 *
 *   origin   | call | no call of MPI ............................ |
 *   target   | waits            | no call of MPI, looks at memory |
 *
 * They signal it without the library: on one host by memory that they share, between hosts by their clocks. */
#ifndef RANKBENCH_COMPLETION_H
#define RANKBENCH_COMPLETION_H

#include "verify/setting.h"

struct completion_check;

/* Called by all ranks of the world; NULL: the system gave no memory. */
struct completion_check *open_completion_check(const struct world *world, bool separate_clocks);
void close_completion_check(struct completion_check *completion_check);

/* Called by all ranks of the team before a call, between the two a barrier, and after it. `end_completion_check` returns on all of them
 * whether the trial had power: a rank that loses its CPU may look too early or too late, and one that needs others' calls ends the
 * silence. */
void begin_completion_check(const struct setting *setting);
bool end_completion_check(const struct setting *setting);
/* Doubles the times of the next trials; returns false where they were doubled often enough. */
bool lengthen_completion_check(const struct setting *setting);
void shorten_completion_check(const struct setting *setting);
/* Called by ranks that are not idle right after the call; sets `late` of the worker. */
void check_completion(const struct setting *setting, struct worker *worker, int64_t began_ns);

#endif
