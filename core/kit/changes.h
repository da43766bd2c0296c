/* What changes in the data from round to round, so that no call repeats the one before.
 *
 *   turn 1   send    |..............A...........|     receive   |..............A...........|
 *   turn 2           |.....B....................|               |.....B....................|
 *
 * In each turn every segment of a send buffer has one changed word, or element of a reduction, at a place that moves; the
 * word of the turn before is restored. Turns are counted alike on all ranks, so that receivers know what senders changed.
 * Calls of one round share a turn. Nothing of this is timed. */
#ifndef RANKBENCH_CHANGES_H
#define RANKBENCH_CHANGES_H

#include "kit/data.h"

/* The segments of a buffer, and what of each is changed now: place, number of bytes, and the original ones. */
struct side {
    struct segments segments;
    struct change *originals;
    int room;
};

struct changes {
    /* Whether data change; equal on all ranks. */
    bool on;
    int64_t turn;
    struct side sent, received;
};

/* Place of byte `position` of the data in a buffer whose type may have gaps. */
long find_buffer_place(const struct call *call, long position);

/* Segments recorded in a buffer without gaps become relative to its start, and are unchanged. */
void begin_side(struct side *side, const unsigned char *start);
/* Restores what an earlier turn changed in the buffer; then changes what this turn changes. */
void restore_side(const struct side *side, const struct call *call, unsigned char *buffer);
void change_side(struct side *side, const struct call *call, unsigned char *buffer, int64_t turn);
/* The buffer has the data of this turn already. */
void adopt_side(struct side *side, const struct call *call, int64_t turn);
/* Whether both buffers are equal where the turn changed them. */
bool are_changes_equal(const struct side *side, const struct call *call, const unsigned char *a, const unsigned char *b);
void free_changes(struct changes *changes);

#endif
