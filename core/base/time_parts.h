/* Where the time of a launch goes, on this rank, by the steady clock: what measuring costs beside what is measured. */
#ifndef RANKBENCH_TIME_PARTS_H
#define RANKBENCH_TIME_PARTS_H

#include <stdbool.h>

/* In the order in which a launch and a visit go through them. Their names are in time_parts.c. */
enum part {
    PART_INIT,
    PART_JOIN,
    PART_FACTS,
    PART_WAIT,
    PART_HOP,
    PART_PREPARE,
    PART_REHEARSE,
    PART_WARM_UP,
    /* In timed calls, and what a stage takes beside them: waiting for common starts, looking at data, merging samples. */
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

/* From now on time is spent on this. Returns what it was spent on until now. */
enum part switch_part(enum part part);
/* As long as this holds, all of it is spent on one part. */
void hold_part(enum part part);
void release_part(enum part part);
/* So much of what was spent on one part belongs to another. */
void move_part_time(enum part from, enum part to, double ns);
double read_part_s(enum part part);

#endif
