/* Where the time of this rank goes during a launch, by the steady clock: the cost of measuring beside what is measured. */
#ifndef RANKBENCH_TIME_PARTS_H
#define RANKBENCH_TIME_PARTS_H

#include <stdbool.h>

/* In the order of a launch and of a visit. Names are in time_parts.c. */
enum part {
    PART_INIT,
    PART_JOIN,
    PART_FACTS,
    PART_WAIT,
    PART_HOP,
    PART_PREPARE,
    PART_REHEARSE,
    PART_WARM_UP,
    /* PART_CALLS: timed calls. PART_ROUNDS: the rest of a stage: waiting for common starts, comparing data, merging
     * samples. */
    PART_CALLS,
    PART_ROUNDS,
    PART_STEER,
    PART_RENEW,
    PART_CLOCKS,
    PART_CHECK,
    PART_COST,
    PART_FREE,
    PART_WRITE,
    PART_HAND_OVER,
    PARTS,
};

extern const char *const part_names[PARTS];

/* Time counts towards this part from now on. Returns the part before. */
enum part switch_part(enum part part);
/* Between these two calls all time counts towards one part, and switch_part has no effect. */
void hold_part(enum part part);
void release_part(enum part part);
/* Moves time from one part to another. */
void move_part_time(enum part from, enum part to, double ns);
double read_part_s(enum part part);

#endif
