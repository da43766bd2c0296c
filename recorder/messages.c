/* Messages between two ranks: when each end was posted and completed, so that waiting for a late partner can be told from
 * transferring.
 *
 * The n-th message of one sender to one receiver, with one tag in one communicator, is the n-th at both ends, since
 * messages do not overtake. Each rank keeps its own ends; they are joined when the run is over. The source and tag of a
 * receive of any are in its status. Where that is not seen, and after a matched probe, the rank keeps no receives in that
 * communicator from then on. */
#include "recorder.h"

enum { CHANNELS = 8192, MOST_CHANNELS = CHANNELS * 3 / 4 };

static struct channel {
    uint64_t name;
    uint32_t count[2]; /* received, sent: a rank may send to itself */
} channels[CHANNELS];
static uint32_t used;
static struct message *messages;

void place_messages(void *place) {
    messages = place;
}

void prepare_first_messages(void) {
    prepare_pages(messages, AHEAD * sizeof *messages);
    prepare_pages(channels, sizeof channels);
}

struct channel_end find_channel(MPI_Comm communicator, struct group *group, int peer, int tag, bool sent) {
    if (!group || peer == MPI_PROC_NULL)
        return (struct channel_end){0};
    return (struct channel_end){group->is_kept ? identify(communicator, group) : 0, group, group->rank, peer, tag, sent};
}

static uint64_t name_channel(uint64_t communicator, int own, int peer, int tag, bool sent) {
    const uint32_t from = (uint32_t)(sent ? own : peer), to = (uint32_t)(sent ? peer : own);
    return mix(communicator + mix((uint64_t)from << 32 | to) + mix((uint32_t)tag)) | 1;
}

/* The place of a channel that has another one in its first place, or none yet; 0: all are taken. */
SELDOM static struct channel *find_place(uint64_t name, struct channel *first) {
    for (struct channel *one = first;; one = one == &channels[CHANNELS - 1] ? channels : one + 1) {
        if (one->name == name)
            return one;
        if (one->name)
            continue;
        if (used == MOST_CHANNELS)
            return 0;
        used++;
        one->name = name;
        return one;
    }
}

/* The number of the next message; UINT32_MAX: there is no place for its channel. */
static inline uint32_t count_message(uint64_t name, bool sent) {
    struct channel *one = &channels[(name >> 32) % CHANNELS];
    if (one->name != name)
        one = find_place(name, one);
    return one ? one->count[sent]++ : UINT32_MAX;
}

/* What is kept depends on the number of a message only, so that both ends are kept, and all of a step of the program. */
static void thin_messages(void) {
    size_t kept = 0;
    header->message_level++;
    for (size_t i = 0; i < header->messages; i++)
        if (is_sampled(messages[i].sequence, header->message_level))
            messages[kept++] = messages[i];
    header->messages = kept;
}

SELDOM static bool make_room(uint32_t sequence) {
    if (header->messages == MESSAGES)
        thin_messages();
    read_pair(&header->later_ticks, &header->later_ns);
    if (header->messages == MESSAGES || !is_sampled(sequence, header->message_level))
        return false;
    prepare_pages(&messages[header->messages], AHEAD * sizeof *messages);
    return true;
}

/* Numbers a message and returns a place for its end, if it is one of those that are kept. */
static inline struct message *add_message(const struct kind *kind, uint64_t channel, bool sent, uint64_t posted,
                                          uint64_t outside) {
    const uint32_t sequence = count_message(channel, sent);
    if (sequence == UINT32_MAX) {
        header->lost_messages++;
        return 0;
    }
    if (!is_sampled(sequence, header->message_level) || (header->messages % AHEAD == 0 && !make_room(sequence)))
        return 0;
    struct message *const message = &messages[header->messages++];
    message->channel = channel;
    message->sequence = sequence;
    message->kind = number_kind(kind) | (sent ? SENT : 0);
    message->posted = posted;
    message->outside_posted = outside;
    return message;
}

struct posted log_message(const struct kind *kind, uint64_t posted, uint64_t outside, const struct channel_end *end) {
    const uint64_t channel = name_channel(end->communicator, end->own, end->peer, end->tag, end->sent);
    struct message *const message = add_message(kind, channel, end->sent, posted, outside);
    if (!message)
        return (struct posted){0};
    message->begin = message->end = message->outside_ended = 0;
    return (struct posted){(uint32_t)(message - messages) + 1, header->message_level, 0};
}

/* Which message was probed, and for how long: also where it was not there yet. */
static struct {
    const struct group *group;
    uint64_t ticks;
    int peer, tag;
    bool is_there;
} probe;

void note_probe(const struct call *call, const MPI_Status *status, bool is_there) {
    if (probe.group != call->group || probe.is_there)
        probe.ticks = 0;
    probe.group = call->group;
    probe.ticks += call->end - call->begin;
    probe.is_there = is_there;
    if (is_there) {
        probe.peer = status->MPI_SOURCE;
        probe.tag = status->MPI_TAG;
    }
}

/* A receive waited for its message in the probes before it, too. */
static inline struct span find_span(const struct call *call, int peer, int tag, bool sent) {
    struct span span = {call->begin, call->end, header->outside};
    if (probe.is_there && !sent && probe.group == call->group && probe.peer == peer && probe.tag == tag) {
        span.begin -= probe.ticks;
        probe.is_there = false;
        probe.ticks = 0;
    }
    return span;
}

/* The end of a message that the call also completed. Copies of what it is made of take longer than all else: they are
 * made only where a receive of any matters, or where a communicator is new. */
void post_complete(const struct kind *kind, const struct call *call, MPI_Comm communicator, int peer, int tag, bool sent) {
    const struct group *const group = call->group;
    if (!group || peer == MPI_PROC_NULL)
        return;
    if (!group->is_kept || !group->identity || (!sent && (pending_any || group->has_wildcards || receives_any(peer, tag)))) {
        post_message(kind, call, find_channel(communicator, call->group, peer, tag, sent), true, 0);
        return;
    }
    const struct span span = find_span(call, peer, tag, sent);
    const uint64_t channel = name_channel(group->identity, group->rank, peer, tag, sent);
    struct message *const message = add_message(kind, channel, sent, call->begin, span.outside);
    if (message) {
        message->begin = span.begin;
        message->end = span.end;
        message->outside_ended = span.outside;
    }
}

/* Whether messages of this end can be numbered. */
bool is_countable(const struct channel_end *end) {
    if (!end->group)
        return false;
    const bool is_lost = !end->sent && end->group->has_wildcards && end->group->identity == end->communicator;
    header->lost_messages += !end->communicator || is_lost;
    return end->communicator && !is_lost;
}

/* posted: of the request that completes the message; 0: the call did, or nothing is known of its completion. */
void post_message(const struct kind *kind, const struct call *call, struct channel_end end, bool is_complete,
                  struct posted *posted) {
    if (!is_countable(&end))
        return;
    const struct span span =
        is_complete ? find_span(call, end.peer, end.tag, end.sent) : (struct span){call->begin, call->end, header->outside};
    if (!end.sent && (receives_any(end.peer, end.tag) || (pending_any && is_behind_any(&end)))) {
        keep_receive(kind, call->begin, &span, &end, is_complete, posted);
        return;
    }
    struct posted one = log_message(kind, call->begin, span.outside, &end);
    if (is_complete)
        finish_message(&one, &span, 0);
    else if (posted)
        *posted = one;
}

/* Places change whenever messages are thinned out. */
void finish_message(struct posted *posted, const struct span *span, const MPI_Status *status) {
    if (posted->receive) {
        finish_receive(posted->receive, span, status);
    } else if (posted->message && posted->level == header->message_level) {
        struct message *const message = &messages[posted->message - 1];
        message->begin = span->begin;
        message->end = span->end;
        message->outside_ended = span->outside;
    }
    *posted = (struct posted){0};
}
