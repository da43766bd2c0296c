/* Launches that run at the same time on the same CPUs and measure in turn, so that they meet the same machine. */
#ifndef RANKBENCH_TURNS_H
#define RANKBENCH_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core.h"

enum { MOST_LAUNCHES = 64 };

struct turns;

/* What ranks waited for their turns, and what CPU time their processes used meanwhile: a library whose threads do not rest disturbs
 * those that have theirs. */
struct rest {
    int64_t waited_ns, busy_ns;
};

/* Of a launch: `said` is PLACE/LAUNCHES:FILE, as every rank is told. Ranks that have CPUs may be one launch's only, so each sleeps until
 * it is its launch's turn. Whoever watches `stream` (or NULL) sees its time of change go on while a rank waits: it lives.
 * NULL with one line in `error`: this makes no sense, or the file cannot be used. */
struct turns *open_turns(const char *said, FILE *stream, char error[LINE_BYTES]);

/* Where turns are NULL, the launch is alone, and all of these return at once.
 * Every rank waits for all launches to be there, then for each of its turns, and in the end for all to have ended theirs, so that none
 * is disturbed by how another begins or ends. One rank of a launch tells the others. */
void arrive(struct turns *turns, bool tells);
void await_turn(struct turns *turns);
void pass_turn(struct turns *turns);
/* Of this rank, so far. */
struct rest rested(const struct turns *turns);
void leave_turns(struct turns *turns, bool tells);

#endif
