/* The buffers of a case: their layout, their content, and how they change from call to call. */
#ifndef RANKBENCH_MEMORY_H
#define RANKBENCH_MEMORY_H

#include "base/op.h"
#include "kit/changes.h"

enum { ROTATING = -1 };

/* Properties of buffers that a case requests. */
struct memory {
    bool cold;
    /* Before each round the rank writes what it sends, and reads what it received, as programs do. */
    bool written;
    bool in_place;
    bool untouched;
    bool huge;
    long alignment;
    int root;
    /* Several threads of this rank call, several times per round. */
    bool threaded;
};

struct buffers {
    struct memory memory;
    const struct operation *operation;
    unsigned char *map;
    long map_bytes;
    unsigned char *base;
    /* A slot holds a send and a receive buffer with guards around them; cold buffers have many slots. */
    /* Whether there is room for this rank as the root and as a non-root. */
    bool any_root;
    long stride, send_at, receive_at, receive_room;
    int64_t slots, slot, step;
    /* Hash of the send buffer and the guard after it before the call. */
    uint64_t sent;
    struct changes changes;
};

/* Bytes that this rank sends and receives. */
struct amounts {
    long send_bytes;
    long receive_bytes;
};

/* Bytes of the receive buffer, including gaps. */
long count_receive_bytes(const struct call *call);
struct amounts find_amounts(const struct operation *operation, const struct call *call, bool root);

/* Returns the bytes of the buffers. `share_bytes` is this rank's share of the memory that cold buffers rotate through. */
long plan_buffers(struct buffers *buffers, const struct call *call, long share_bytes);
/* Plans buffers for so many calls. */
void plan_slots(struct buffers *buffers, const struct call *call, int64_t slots);
/* Returns false with the reason if the system gives no such memory. */
bool make_buffers(struct buffers *buffers, char reason[REASON_BYTES]);
void free_buffers(struct buffers *buffers);

/* Fills the send buffer with known data, and overwrites the receive buffer. */
void fill_buffers(struct buffers *buffers, struct call *call);
/* Compares the receive buffer with the expected data. */
void check_buffers(const struct buffers *buffers, const struct call *call, struct mismatch *mismatch);
/* Overwrites the receive buffer. */
void clear_received(const struct buffers *buffers, struct call *call);
/* Fills all slots, for any root. Sums in place that are not renewed get zeros, which can be added without limit. */
void fill_for_timing(struct buffers *buffers, struct call *call);
/* Before a round or a single call with data for timing: changes what is sent. */
void begin_turn(struct buffers *buffers, const struct call *call);
/* Then, in place: renews the rank's own data in the receive buffer. */
void renew_own_data(const struct buffers *buffers, const struct call *call);
/* Last, if the case asks for it: writes the send buffer without changing it, and reads the receive buffer. */
void use_data(const struct buffers *buffers, const struct call *call);
/* Whether own data in place are renewed before every round. */
bool renews_own_data(const struct buffers *buffers);
/* Whether there was a run since the receive buffer was overwritten: without one nothing is delivered. */
static inline bool was_called(const struct call *call) {
    return call->runs > call->buffers.runs_before;
}
/* Whether the receive buffer still holds exactly what `fill_buffers` or `clear_received` wrote into it. */
bool is_untouched(const struct buffers *buffers, const struct call *call);
bool are_guards_intact(const struct buffers *buffers, const struct call *call);
/* Whether the send buffer, which calls may only read, and the guard after it are unchanged. */
bool is_send_intact(struct buffers *buffers, const struct call *call);

/* Whether buffers differ between calls; and sets those of the next call. */
bool buffers_change(const struct buffers *buffers);
void change_buffers(struct buffers *buffers, struct call *call);
void set_root(struct buffers *buffers, struct call *call, int root);
/* Whether data of timed calls can be checked afterwards; otherwise one more call with new data is. */
bool leaves_data(const struct buffers *buffers);
/* Whether each call delivers all data, so that they can be renewed between calls. */
bool can_renew(const struct buffers *buffers);

#endif
