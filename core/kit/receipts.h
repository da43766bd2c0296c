/* What receives report of the messages that they delivered: source, tag and count, of the last MOST_RECEIPTS calls. A call writes
 * its status where `next_receipt` says; all are looked at between two readings of the clock that belong to different rounds.
 *
 *   overwritten | reading | receive receive receive ... | reading | compared */
#ifndef RANKBENCH_RECEIPTS_H
#define RANKBENCH_RECEIPTS_H

#include "base/op.h"

/* A power of two, so that a call with more receives overwrites the oldest. */
enum { MOST_RECEIPTS = 128 };

struct receipts {
    MPI_Status statuses[MOST_RECEIPTS];
    unsigned count;
    /* What each must say; until the operation says so, nothing is compared. A negative count is not compared. */
    bool expected;
    int source, tag, elements;
    MPI_Datatype type;
    /* One that was right, with which others are compared before any call of MPI is made. */
    bool known;
    MPI_Status right;
};

/* Where a status of a message is not what was sent. */
struct wrong_receipt {
    const char *what;
    int actual, expected;
};

/* Where the next receive writes its status. */
static inline MPI_Status *next_receipt(struct call *call) {
    return &call->window.receipts->statuses[call->window.receipts->count++ % MOST_RECEIPTS];
}

/* In `prepare`: all receives of this rank are of such messages. */
void expect_receipts(struct call *call, int source, int tag, MPI_Datatype type, int elements);
/* Before a round: overwrites the statuses of the one before, so that one that no receive writes is wrong. */
void forget_receipts(struct receipts *receipts);
/* After it: whether each is the same as one that was right. Makes no call of MPI. */
bool are_receipts_known(const struct receipts *receipts);
/* Compares source, tag and count of each; returns false with the first that is wrong. */
bool are_receipts_right(struct receipts *receipts, struct wrong_receipt *wrong);

#endif
