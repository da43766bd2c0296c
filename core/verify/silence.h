/* Whether data are in the memory of another rank when a call returns that puts them there, and not only when its rank calls MPI again.
 *
 *   origin   | call | no call of MPI ............................ |
 *   target   | waits            | no call of MPI, looks at memory |
 *
 * They signal it without the library: on one host by memory that they share, between hosts by their clocks. */
#ifndef RANKBENCH_SILENCE_H
#define RANKBENCH_SILENCE_H

#include "verify/setting.h"

struct silence;

/* Called by all ranks of the world; NULL: the system gave no memory. */
struct silence *open_silence(const struct world *world, bool separate_clocks);
void close_silence(struct silence *silence);

/* Called by all ranks of the team before a call, between the two a barrier, and after it. `end_silence` returns on all of them
 * whether the trial had power: a rank that loses its CPU may look too early or too late, and one that needs others' calls ends the
 * silence. */
void begin_silence(const struct setting *setting);
bool end_silence(const struct setting *setting);
/* Doubles the times of the next trials; returns false where they were doubled often enough. */
bool lengthen_silence(const struct setting *setting);
void shorten_silence(const struct setting *setting);
/* Called by ranks that are not idle right after the call; sets `late` of the worker. */
void look_in_silence(const struct setting *setting, struct worker *worker, int64_t began_ns);

#endif
