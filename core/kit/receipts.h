/* Statuses of receives: source, tag and count. A call writes its statuses where `next_receipts` returns; they are
 * compared between two readings of the clock that belong to different rounds.
 *
 *   overwritten | reading | receive receive receive ... | reading | compared */
#ifndef RANKBENCH_RECEIPTS_H
#define RANKBENCH_RECEIPTS_H

#include "base/op.h"

/* Expected status of a receive. A negative count is not compared. */
struct receipt {
    int source, tag, elements;
};

struct receipts {
    /* Room for the statuses of a round; if a round has more, the last ones are kept. */
    MPI_Status *next, *end, *statuses;
    bool wrapped;
    /* Statuses per call; the first `checked` of them are of receives, the others of sends, which have no content. */
    int per_call, checked;
    MPI_Datatype type;
    /* Right statuses of one call, with which others are compared bytewise, without calls of MPI. */
    bool known;
    MPI_Status *right;
    struct receipt expected[];
};

/* A wrong field of a status. */
struct wrong_receipt {
    const char *what;
    int actual, expected;
};

/* Returns where a call writes its next `count` statuses. */
static inline MPI_Status *next_receipts(struct call *call, int count) {
    struct receipts *receipts = call->window.receipts;
    MPI_Status *place = receipts->next;
    if (place + count > receipts->end) {
        place = receipts->statuses;
        receipts->wrapped = true;
    }
    receipts->next = place + count;
    return place;
}

static inline MPI_Status *next_receipt(struct call *call) {
    return call->window.receipts ? next_receipts(call, 1) : MPI_STATUS_IGNORE;
}

/* For the hook `prepare`, which returns their error code: room for `per_call` statuses per call, the first `checked` of
 * which are of receives. If none is, `call->window.receipts` stays NULL. Then sets the expected status of each receive,
 * which may change between calls. */
int make_receipts(struct call *call, int per_call, int checked, MPI_Datatype type);
void expect_receipt(struct call *call, int number, struct receipt expected);
/* All receives of this rank have the same expected status. */
int expect_receipts(struct call *call, MPI_Datatype type, struct receipt expected);
void free_receipts(struct call *call);
/* Before a round: overwrites the statuses, so that one which is not written is wrong. */
void clear_receipts(struct receipts *receipts);
/* After it: whether each is equal to a right one. Calls no MPI. */
bool are_receipts_known(const struct receipts *receipts);
/* Compares source, tag and count of each; returns false with the first wrong one. */
bool are_receipts_right(struct receipts *receipts, struct wrong_receipt *wrong);

/* Lists the last statuses of receives beside the expected ones, at most so many; returns their number. A count that is
 * not compared is -1. */
int list_receipts(const struct receipts *receipts, struct receipt *actual, struct receipt *expected, int most);

#endif
