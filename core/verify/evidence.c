#include "verify/evidence.h"

#include "base/tree.h"

enum { TAG_EVIDENCE = 7060, BYTES_BEFORE = MOST_EXCERPT / 4 };

static struct evidence evidence;

void begin_evidence(void) {
    evidence.valid = false;
}

/* From some bytes before the first wrong one on. */
static void place_excerpt(struct excerpt *excerpt, long first, long receive_bytes) {
    excerpt->from = first > BYTES_BEFORE ? first - BYTES_BEFORE : 0;
    excerpt->bytes = receive_bytes - excerpt->from < MOST_EXCERPT ? receive_bytes - excerpt->from : MOST_EXCERPT;
}

void keep_evidence(const struct worker *worker) {
    const struct call *call = &worker->call;
    struct mismatch mismatch = {0}, again = {.excerpt = &evidence.excerpt};
    if (evidence.valid)
        return;
    check_buffers(&worker->buffers, call, &mismatch);
    evidence.valid = true;
    evidence.rank = call->peers.rank;
    evidence.root = call->peers.root;
    evidence.runs = call->runs;
    evidence.first = mismatch.wrong_bytes > 0 && !mismatch.instead ? mismatch.offset : -1;
    evidence.wrong_bytes = mismatch.instead ? 0 : mismatch.wrong_bytes;
    evidence.receive_bytes = call->buffers.receive_bytes;
    evidence.receipts =
        call->window.receipts ? list_receipts(call->window.receipts, evidence.actual, evidence.expected, MOST_RECEIPTS) : 0;
    place_excerpt(&evidence.excerpt, evidence.first, call->buffers.receive_bytes);
    check_buffers(&worker->buffers, call, &again);
}

const struct evidence *share_evidence(const struct team *team, int rank) {
    if (rank != 0 && team->rank == rank)
        send_bytes(team, &evidence, sizeof evidence, 0, TAG_EVIDENCE);
    if (rank != 0 && team->rank == 0)
        receive_bytes_patiently(team, &evidence, sizeof evidence, rank, TAG_EVIDENCE);
    return team->rank == 0 && evidence.valid ? &evidence : NULL;
}
