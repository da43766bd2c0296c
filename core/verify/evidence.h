/* What a rank received instead of the expected data: kept at the first wrong data of a case, for the stream. */
#ifndef RANKBENCH_EVIDENCE_H
#define RANKBENCH_EVIDENCE_H

#include "kit/data.h"
#include "kit/receipts.h"
#include "verify/setting.h"

enum { MOST_RECEIPTS = 64 };

struct evidence {
    /* Without it there is none. */
    bool valid;
    int rank, root;
    /* Runs of the case on this rank until then. */
    int64_t runs;
    /* The first wrong byte; -1: the received data are right. */
    long first, wrong_bytes, receive_bytes;
    /* Statuses of the last run's receives. */
    int receipts;
    struct receipt actual[MOST_RECEIPTS], expected[MOST_RECEIPTS];
    struct excerpt excerpt;
};

/* Forgets the evidence of the case before. */
void begin_evidence(void);
/* Keeps a worker's present data and statuses, unless those of an earlier moment of the case are kept. */
void keep_evidence(const struct worker *worker);
/* Sends the evidence of a rank to rank 0, which gets it; NULL: there is none, or this is another rank. */
const struct evidence *share_evidence(const struct team *team, int rank);

#endif
