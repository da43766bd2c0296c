/* A copy of what was received right. While data stay the same, every timed call must bring it again: before a round a few bytes
 * of what was received are changed, and after it they must be as they were, and so must a part of the rest.
 *
 *   receive  | e |    x       window         | e |      e: ends, compared after every round    x: changed before it
 *
 * All this happens between two readings of the clock that belong to different rounds. */
#ifndef RANKBENCH_REFERENCE_H
#define RANKBENCH_REFERENCE_H

#include <string.h>

#include "base/op.h"

enum { CHANGED_BYTES = 3 };

struct reference {
    /* The copy, and what it is compared with: so many bytes, gaps included. */
    unsigned char *right, *data;
    long bytes;
    /* Whether calls are compared now, and how often a difference was none by the operation's own check. */
    bool ready;
    int strikes;
    /* Positions of data, gaps not counted, between which bytes are changed; `last` is negative where nothing is received. */
    long first, last, next;
    long window;
    long places[CHANGED_BYTES];
    /* What other looks at the ends of stages took. */
    int64_t looked_ns;
};

/* Whether data of this size are copied. */
bool can_be_kept(long bytes);
/* Takes what lies in `call->buffers.receive`, of `bytes` bytes with gaps, as right; returns without one if there is no memory. */
void keep_reference(struct reference *reference, const struct call *call, long bytes);
void free_reference(struct reference *reference);

/* Before a call: changes the first byte, the last one and one between them. */
void change_received(struct reference *reference, const struct call *call);
/* After it. Of what is not compared in full, the ends, the bytes that were changed and a window that moves from call to call. */
bool is_right_again(struct reference *reference, long window_bytes);
/* Whether none of the changed bytes was written to since. */
bool keeps_changes(const struct reference *reference);
/* Undoes what no call has overwritten. */
void restore_received(struct reference *reference);

#endif
