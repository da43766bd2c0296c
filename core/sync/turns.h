/* Launches that run at the same time on the same CPUs and measure in turn, so that they meet the same machine. */
#ifndef RANKBENCH_TURNS_H
#define RANKBENCH_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/core.h"
#include "base/op.h"

enum { MOST_LAUNCHES = 64 };

struct turns;

/* What ranks waited for their turns, and what CPU time their processes, launchers and daemons used meanwhile: a library whose threads
 * do not rest disturbs those that have theirs. */
struct rest {
    int64_t waited_ns, busy_ns;
};

/* Of a turn: its place in its round, and the place among launches of the one that measured just before; -1: none. */
struct slot {
    int position, after;
};

/* Of a launch: `option` is PLACE/LAUNCHES/CASES:FILE, the same on every rank; the order of turns is drawn up for jobs that come to so many
 * cases again and again. Where FILE has a %, each host has a file of its own, by its name,
 * which is made; else it is there, on the only host. Whoever watches `stream` (or NULL), or its number in the page of the only host, sees a
 * change now and then while a rank waits and the launches get on: it lives. NULL with one line in `error`: the option is invalid, or the file cannot be used. */
struct turns *open_turns(const char *option, const struct team *team, FILE *stream, double patience_s, char error[LINE_BYTES]);

/* Where turns are NULL, the launch is alone, and all of these return at once.
 * Every rank waits for all launches to be there, then for each of its turns, and in the end for all to have ended theirs, so that none
 * is disturbed by how another begins or ends.
 * False: the others have begun without this launch, or none of them came. */
bool arrive(struct turns *turns);
void await_turn(struct turns *turns);
/* A turn in which this launch did nothing. */
void pass_turn(struct turns *turns);
/* Every rank ends its part of a turn; another launch begins its own when all have, and no library has anything left to send. */
void end_turn(struct turns *turns);
struct slot find_slot(const struct turns *turns);
/* Of this rank, so far. */
struct rest measure_rest(const struct turns *turns);
void leave_turns(struct turns *turns);

#endif
