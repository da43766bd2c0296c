#include "kit/receipts.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"

/* Room for this number of statuses, or for those of one call. */
enum { USUAL_ROOM = 128, LINE = 64 };

static size_t round_to_lines(size_t bytes) {
    return (bytes + LINE - 1) / LINE * LINE;
}

int make_receipts(struct call *call, int per_call, int checked, MPI_Datatype type) {
    if (checked == 0)
        return MPI_SUCCESS;
    const int calls = per_call < USUAL_ROOM ? USUAL_ROOM / per_call : 1;
    struct receipts *receipts = try_memory(sizeof *receipts + sizeof *receipts->expected * (size_t)checked);
    if (!receipts)
        return MPI_ERR_NO_MEM;
    call->window.receipts = receipts;
    const size_t bytes = round_to_lines(sizeof(MPI_Status) * (size_t)(calls * per_call + checked));
    receipts->statuses = try_aligned_memory(LINE, bytes);
    if (!receipts->statuses)
        return MPI_ERR_NO_MEM;
    memset(receipts->statuses, GUARD, bytes);
    receipts->per_call = per_call;
    receipts->checked = checked;
    receipts->type = type;
    receipts->next = receipts->statuses;
    receipts->end = receipts->right = receipts->statuses + calls * per_call;
    return MPI_SUCCESS;
}

void expect_receipt(struct call *call, int number, struct receipt expected) {
    call->window.receipts->expected[number] = expected;
    call->window.receipts->known = false;
}

int expect_receipts(struct call *call, MPI_Datatype type, struct receipt expected) {
    const int code = make_receipts(call, 1, 1, type);
    if (!code)
        expect_receipt(call, 0, expected);
    return code;
}

void free_receipts(struct call *call) {
    if (call->window.receipts)
        free(call->window.receipts->statuses);
    free(call->window.receipts);
    call->window.receipts = NULL;
}

static long count_statuses(const struct receipts *receipts) {
    return (receipts->wrapped ? receipts->end : receipts->next) - receipts->statuses;
}

/* Of the call whose statuses begin at `from`, as many as it has written. */
static long count_checked(const struct receipts *receipts, long from) {
    const long written = count_statuses(receipts) - from;
    return written < receipts->checked ? written : receipts->checked;
}

void clear_receipts(struct receipts *receipts) {
    memset(receipts->statuses, GUARD, (size_t)count_statuses(receipts) * sizeof *receipts->statuses);
    receipts->next = receipts->statuses;
    receipts->wrapped = false;
}

bool are_receipts_known(const struct receipts *receipts) {
    const long count = count_statuses(receipts);
    for (long from = 0; from < count; from += receipts->per_call)
        if (!receipts->known || memcmp(&receipts->statuses[from], receipts->right,
                                       (size_t)count_checked(receipts, from) * sizeof *receipts->right) != 0)
            return false;
    return true;
}

static bool is_right(const MPI_Status *status, MPI_Datatype type, const struct receipt *expected, struct wrong_receipt *wrong) {
    int elements = expected->elements;
    const int code = elements < 0 ? MPI_SUCCESS : MPI_Get_count(status, type, &elements);
    if (status->MPI_SOURCE != expected->source)
        *wrong = (struct wrong_receipt){"source", status->MPI_SOURCE, expected->source};
    else if (status->MPI_TAG != expected->tag)
        *wrong = (struct wrong_receipt){"tag", status->MPI_TAG, expected->tag};
    else if (code || elements != expected->elements)
        *wrong = (struct wrong_receipt){"count", elements, expected->elements};
    else
        return true;
    return false;
}

bool are_receipts_right(struct receipts *receipts, struct wrong_receipt *wrong) {
    const long count = count_statuses(receipts);
    for (long from = 0; from < count; from += receipts->per_call)
        for (long i = 0; i < count_checked(receipts, from); i++)
            if (!is_right(&receipts->statuses[from + i], receipts->type, &receipts->expected[i], wrong))
                return false;
    receipts->known = count >= receipts->checked;
    if (receipts->known)
        memcpy(receipts->right, receipts->statuses, (size_t)receipts->checked * sizeof *receipts->right);
    return true;
}

static struct receipt read_receipt(const MPI_Status *status, MPI_Datatype type, const struct receipt *expected) {
    struct receipt receipt = {status->MPI_SOURCE, status->MPI_TAG, -1};
    if (expected->elements >= 0 && MPI_Get_count(status, type, &receipt.elements) != MPI_SUCCESS)
        receipt.elements = -1;
    return receipt;
}

int list_receipts(const struct receipts *receipts, struct receipt *actual, struct receipt *expected, int most) {
    const long count = count_statuses(receipts), begin = count > receipts->per_call ? count - receipts->per_call : 0;
    const long checked = count_checked(receipts, begin);
    for (int i = 0; i < checked && i < most; i++) {
        expected[i] = receipts->expected[i];
        actual[i] = read_receipt(&receipts->statuses[begin + i], receipts->type, &expected[i]);
    }
    return checked < most ? (int)checked : most;
}
