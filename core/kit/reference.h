/* A copy of data that were received right. Every timed call must deliver them again, except for what the senders change
 * from turn to turn, which is changed in the copy, too. Before a round a few bytes of the receive buffer are changed, and
 * after it they must be right, and a part of the rest.
 *
 *   receive  | e |    x       window         | e |      e: ends, compared after every round    x: changed before it
 *
 * All this happens between two readings of the clock that belong to different rounds. */
#ifndef RANKBENCH_REFERENCE_H
#define RANKBENCH_REFERENCE_H

#include <string.h>

#include "kit/memory.h"

enum { CHANGED_BYTES = 3 };

struct reference {
    /* The copy, the buffer that is compared with it, and their size including gaps. */
    unsigned char *right, *data;
    long bytes;
    /* Whether calls are compared now, and how many differences the operation's own check found right. */
    bool ready;
    int strikes;
    /* Range of positions, without gaps, in which bytes are changed; `last` is negative if nothing is received. */
    long first, last, next;
    long window;
    long places[CHANGED_BYTES];
    /* The call, and what changes in its data from turn to turn. */
    const struct call *call;
    struct changes *changes;
    /* Received data lie where sent data were: no byte is changed before a round. */
    bool in_place;
    /* Time spent on inspections after stages. */
    int64_t looked_ns;
};

/* Whether data of this size are copied. */
bool can_be_kept(long bytes);
/* Copies `call->buffers.receive`, of `bytes` with gaps, as right; without memory there is no reference. */
void keep_reference(struct reference *reference, struct buffers *buffers, const struct call *call, long bytes);
void free_reference(struct reference *reference);

/* Before a call: changes the copy as the senders changed their data, and in the receive buffer the first byte, the last
 * one and one in between. */
void follow_turn(struct reference *reference);
void change_received(struct reference *reference);
/* After it: compares the buffer or, if it is large, its ends, all changed bytes and a window that moves from call to
 * call. */
bool is_right_again(struct reference *reference, long window_bytes);
/* Whether no changed byte was written since. */
bool keeps_changes(const struct reference *reference);
/* Restores changed bytes that no call has overwritten. */
void restore_received(struct reference *reference);

#endif
