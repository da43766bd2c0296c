/* What receives report of the messages that they delivered: source, tag and count. A call writes its statuses where
 * `next_receipts` says; all are looked at between two readings of the clock that belong to different rounds.
 *
 *   overwritten | reading | receive receive receive ... | reading | compared */
#ifndef RANKBENCH_RECEIPTS_H
#define RANKBENCH_RECEIPTS_H

#include "base/op.h"

/* What one receive must report. A negative count is not compared. */
struct receipt {
    int source, tag, elements;
};

struct receipts {
    /* Room for the statuses of some calls: those of a round, unless a round has more. Then the last ones are kept. */
    MPI_Status *next, *end, *statuses;
    bool wrapped;
    /* Of how many statuses a call writes the first so many are of receives; the others, of sends, say nothing. */
    int per_call, checked;
    MPI_Datatype type;
    /* What one call wrote that was right, with which others are compared before any call of MPI is made. */
    bool known;
    MPI_Status *right;
    struct receipt expected[];
};

/* Where a status of a message is not what was sent. */
struct wrong_receipt {
    const char *what;
    int actual, expected;
};

/* Where a call writes its next so many statuses. */
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

/* In `prepare`, which returns what these return: the statuses of each call, the first `checked` of which are of receives. Where
 * none is, nothing is kept, and `call->window.receipts` is NULL. Then what each receive reports; it may change between calls. */
int make_receipts(struct call *call, int per_call, int checked, MPI_Datatype type);
void expect_receipt(struct call *call, int number, struct receipt expected);
/* All receives of this rank are of such messages. */
int expect_receipts(struct call *call, MPI_Datatype type, struct receipt expected);
void free_receipts(struct call *call);
/* Before a round: overwrites the statuses of the one before, so that one that no receive writes is wrong. */
void clear_receipts(struct receipts *receipts);
/* After it: whether each is the same as one that was right. Makes no call of MPI. */
bool are_receipts_known(const struct receipts *receipts);
/* Compares source, tag and count of each; returns false with the first that is wrong. */
bool are_receipts_right(struct receipts *receipts, struct wrong_receipt *wrong);

#endif
