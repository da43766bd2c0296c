/* The buffers of a case: where they lie, what is in them, and how they change from call to call. */
#ifndef RANKBENCH_MEMORY_H
#define RANKBENCH_MEMORY_H

#include "base/op.h"

enum { ROTATING = -1 };

/* What a case asks of its buffers. */
struct memory {
    bool cold;
    bool in_place;
    bool untouched;
    bool huge;
    long alignment;
    int root;
};

struct buffers {
    struct memory memory;
    const struct operation *operation;
    unsigned char *map;
    long map_bytes;
    unsigned char *base;
    /* One slot holds a send and a receive buffer with guards around them; cold buffers have many. */
    /* Whether the buffers have room for this rank as the root and as another one. */
    bool any_root;
    long stride, send_at, receive_at, receive_room;
    int64_t slots, slot, step;
    /* Of what the send buffer and the guard after it held before the call. */
    uint64_t sent;
};

/* Of the calls' sizes on this rank, whoever is the root. */
struct amounts {
    long send_bytes;
    long receive_bytes;
};

/* Bytes that what this rank receives takes, gaps included. */
long count_receive_bytes(const struct call *call);
struct amounts find_amounts(const struct operation *operation, const struct call *call, bool root);

/* Bytes that the buffers will take. `share_bytes` is what this rank rotates through if they are to be cold. */
long plan_buffers(struct buffers *buffers, const struct call *call, long share_bytes);
/* Returns false with the reason if the system does not give such memory. */
bool make_buffers(struct buffers *buffers, char reason[REASON_BYTES]);
void free_buffers(struct buffers *buffers);

/* Data of which every byte can be checked; what was received before is overwritten. */
void fill_buffers(struct buffers *buffers, struct call *call);
/* What arrived, against what should have. */
void check_buffers(const struct buffers *buffers, const struct call *call, struct mismatch *mismatch);
/* Overwrites what was received. */
void clear_received(const struct buffers *buffers, const struct call *call);
/* The same in all slots, for whichever root; sums in place get zeros, which they can add up for ever. */
void fill_for_timing(struct buffers *buffers, struct call *call);
bool are_guards_intact(const struct buffers *buffers, const struct call *call);
/* Whether the send buffer, which a call may only read, and what lies behind it are as they were. */
bool is_send_intact(const struct buffers *buffers);

/* Whether buffers differ from call to call, and makes them those of the next call. */
bool buffers_change(const struct buffers *buffers);
void change_buffers(struct buffers *buffers, struct call *call);
void set_root(struct buffers *buffers, struct call *call, int root);
/* Whether what timing leaves behind can be checked; else one more call with fresh data must be. */
bool leaves_data(const struct buffers *buffers);
/* Whether each call brings all of it again, so that it can be new between two calls. */
bool can_renew(const struct buffers *buffers);

#endif
