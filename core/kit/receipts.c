#include "kit/receipts.h"

#include <string.h>

static unsigned count_statuses(const struct receipts *receipts) {
    return receipts->count < MOST_RECEIPTS ? receipts->count : MOST_RECEIPTS;
}

void expect_receipts(struct call *call, int source, int tag, MPI_Datatype type, int elements) {
    struct receipts *receipts = call->window.receipts;
    receipts->expected = true;
    receipts->source = source;
    receipts->tag = tag;
    receipts->type = type;
    receipts->elements = elements;
}

void forget_receipts(struct receipts *receipts) {
    memset(receipts->statuses, GUARD, count_statuses(receipts) * sizeof *receipts->statuses);
    receipts->count = 0;
}

bool are_receipts_known(const struct receipts *receipts) {
    const unsigned count = receipts->expected ? count_statuses(receipts) : 0;
    for (unsigned i = 0; i < count; i++)
        if (!receipts->known || memcmp(&receipts->statuses[i], &receipts->right, sizeof receipts->right) != 0)
            return false;
    return true;
}

static bool is_right(const struct receipts *receipts, const MPI_Status *status, struct wrong_receipt *wrong) {
    int elements = receipts->elements;
    const int code = elements < 0 ? MPI_SUCCESS : MPI_Get_count(status, receipts->type, &elements);
    if (status->MPI_SOURCE != receipts->source)
        *wrong = (struct wrong_receipt){"source", status->MPI_SOURCE, receipts->source};
    else if (status->MPI_TAG != receipts->tag)
        *wrong = (struct wrong_receipt){"tag", status->MPI_TAG, receipts->tag};
    else if (code || elements != receipts->elements)
        *wrong = (struct wrong_receipt){"count", elements, receipts->elements};
    else
        return true;
    return false;
}

bool are_receipts_right(struct receipts *receipts, struct wrong_receipt *wrong) {
    const unsigned count = receipts->expected ? count_statuses(receipts) : 0;
    for (unsigned i = 0; i < count; i++)
        if (!is_right(receipts, &receipts->statuses[i], wrong))
            return false;
    receipts->known = count > 0;
    if (receipts->known)
        receipts->right = receipts->statuses[0];
    return true;
}
