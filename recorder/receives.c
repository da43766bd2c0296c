/* Receives of any source or tag, and those posted behind them.
 *
 * A message goes to the first posted receive that fits. So receives are numbered in the order in which they were posted: one
 * of any when its status says what it took, and one behind it, if it fits the same messages, not before that. */
#include "recorder.h"

enum { RECEIVES = 256 };

static struct receive {
    uint64_t number;
    struct channel_end end;
    const struct kind *kind;
    uint64_t posted, outside;
    struct span completed;  /* its end is 0: not complete */
    struct posted *request; /* 0: complete, or nothing is known of its completion */
    bool is_cancelled;      /* the program wants so; it may take a message nevertheless */
} receives[RECEIVES];       /* in the order in which they were posted */
static uint32_t kept;
uint32_t pending_any;

static bool is_any(const struct receive *one) {
    return receives_any(one->end.peer, one->end.tag);
}

/* Whether a receive of any fits messages of this end. */
static bool fits(const struct receive *any, const struct channel_end *end) {
    return is_any(any) && any->end.communicator == end->communicator &&
           (any->end.peer == MPI_ANY_SOURCE || any->end.peer == end->peer) &&
           (any->end.tag == MPI_ANY_TAG || any->end.tag == end->tag);
}

static bool is_behind(uint32_t place, const struct channel_end *end) {
    for (uint32_t i = 0; i < place; i++)
        if (fits(&receives[i], end))
            return true;
    return false;
}

bool is_behind_any(const struct channel_end *end) {
    return is_behind(kept, end);
}

/* The end is a copy, since that of a kept receive moves. */
static void lose_receives(struct channel_end end) {
    uint32_t left = 0;
    if (end.group->identity == end.communicator)
        end.group->has_wildcards = true;
    for (uint32_t i = 0; i < kept; i++)
        if (receives[i].end.communicator != end.communicator) {
            receives[left++] = receives[i];
        } else {
            pending_any -= is_any(&receives[i]);
            header->lost_messages++;
            if (receives[i].request)
                *receives[i].request = (struct posted){0};
        }
    kept = left;
}

void keep_receive(const struct kind *kind, uint64_t began, const struct span *span, const struct channel_end *end,
                  bool is_complete, struct posted *posted) {
    static uint64_t numbers;
    const bool any = receives_any(end->peer, end->tag);
    if (kept == RECEIVES || (any && !posted)) {
        header->lost_messages++;
        lose_receives(*end);
        return;
    }
    receives[kept++] =
        (struct receive){++numbers, *end, kind, began, span->outside, is_complete ? *span : (struct span){0}, posted, false};
    pending_any += any;
    if (posted)
        *posted = (struct posted){.receive = numbers};
}

static void number_receive(struct receive *one) {
    struct posted message = {0};
    if (one->end.peer != MPI_PROC_NULL && is_countable(&one->end))
        message = log_message(one->kind, one->posted, one->outside, &one->end);
    if (one->completed.end)
        finish_message(&message, &one->completed, 0);
    else if (one->request)
        *one->request = message;
}

static void number_receives(void) {
    const uint32_t before = kept;
    kept = 0;
    for (uint32_t i = 0; i < before; i++) {
        struct receive one = receives[i];
        if (one.end.peer != MPI_PROC_NULL && (is_any(&one) || is_behind(kept, &one.end)))
            receives[kept++] = one;
        else
            number_receive(&one);
    }
}

static struct receive *find_receive(uint64_t number) {
    for (uint32_t i = 0; i < kept; i++)
        if (receives[i].number == number)
            return &receives[i];
    return 0;
}

void finish_receive(uint64_t number, const struct span *span, const MPI_Status *status) {
    struct receive *const one = find_receive(number);
    if (!one)
        return;
    one->request = 0;
    one->completed = *span;
    if (!is_any(one))
        return;
    if (!status) {
        lose_receives(one->end);
        return;
    }
    int took_none = 0;
    if (one->is_cancelled)
        library.Test_cancelled(status, &took_none);
    one->end.peer = took_none ? MPI_PROC_NULL : status->MPI_SOURCE;
    one->end.tag = status->MPI_TAG;
    pending_any--;
    number_receives();
}

/* Whether the receive is one of any, whose status will say if it took a message. */
bool cancel_receive(const struct posted *posted) {
    struct receive *const one = posted->receive ? find_receive(posted->receive) : 0;
    if (!one || !is_any(one))
        return false;
    return one->is_cancelled = true;
}

/* Nothing will be known of the completion of this receive: it is cancelled, freed, or shares its handle. */
void detach_receive(struct posted *posted) {
    struct receive *const one = posted->receive ? find_receive(posted->receive) : 0;
    *posted = (struct posted){0};
    if (!one)
        return;
    one->request = 0;
    if (is_any(one))
        lose_receives(one->end);
}
