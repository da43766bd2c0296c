/* Launches that run at the same time on the same CPUs and measure in turn, so that all find the same state of the
 * machine. */
#ifndef RANKBENCH_TURNS_H
#define RANKBENCH_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/core.h"
#include "base/op.h"

enum { MOST_LAUNCHES = 64 };

struct turns;

/* Waiting time of ranks, and CPU time of their processes, launchers and daemons meanwhile: a library with busy threads
 * disturbs the launch that measures. */
struct rest {
    int64_t waited_ns, busy_ns;
};

/* Position of a turn in its round, and place of the launch that measured before; -1: none. */
struct slot {
    int position, after;
};

/* `option` is PLACE/LAUNCHES/CASES:FILE, equal on every rank; the order of turns assumes jobs that repeat this number
 * of cases. If FILE has a %, each host has its own file, named after it and created by ranks; otherwise the file
 * exists, on a single host. While a rank waits and turns advance, the time of `stream` (or NULL), or a number in the
 * page, shows that it is alive. Returns NULL with one line in `error` if the option is invalid or the file unusable. */
struct turns *open_turns(const char *option, const struct team *team, FILE *stream, double patience_s, char error[LINE_BYTES]);

/* With turns NULL the launch is alone, and all of these return at once. Every rank waits for all launches to arrive,
 * then for each of its turns, and finally for all launches to end, so that no start or end disturbs another launch.
 * `arrive` returns false if the others began without this launch, or none arrived. */
bool arrive(struct turns *turns);
void await_turn(struct turns *turns);
/* A turn in which this launch measures nothing. */
void pass_turn(struct turns *turns);
/* Called by every rank; the next launch begins when all have called and no library has anything left to send. */
void end_turn(struct turns *turns);
struct slot find_slot(const struct turns *turns);
/* For this rank, so far. */
struct rest measure_rest(const struct turns *turns);
void leave_turns(struct turns *turns);

#endif
