/* Messages between two ranks: when each end was posted and completed, so that waiting for a late partner can be told from
 * transferring.
 *
 * The n-th message of one sender to one receiver, with one tag in one communicator, is the n-th at both ends, since
 * messages do not overtake. Each rank keeps its own ends; they are joined when the run is over. The source and tag of a
 * receive of any are in its status. Where that is not seen, and after a matched probe, the rank keeps no receives in that
 * communicator from then on. */
#include "recorder.h"

enum { CHANNELS = 8192, MOST_CHANNELS = CHANNELS * 3 / 4 };

static struct {
    uint64_t name;
    uint32_t count[2]; /* received, sent: a rank may send to itself */
} channels[CHANNELS];
static uint32_t used;
static struct message *messages;

void place_messages(void *place) {
    messages = place;
}

struct channel_end find_channel(MPI_Comm communicator, struct group *group, int peer, int tag, bool sent) {
    if (!group || peer == MPI_PROC_NULL)
        return (struct channel_end){0};
    return (struct channel_end){group->is_kept ? identify(communicator, group) : 0, group, group->rank, peer, tag, sent};
}

static uint64_t name_channel(const struct channel_end *end) {
    const int from = end->sent ? end->own : end->peer, to = end->sent ? end->peer : end->own;
    return mix(end->communicator + mix((uint64_t)(uint32_t)from << 32 | (uint32_t)to) + mix((uint32_t)end->tag)) | 1;
}

/* The number of the next message; UINT32_MAX: there is no place for its channel. */
static uint32_t count_message(uint64_t channel, bool sent) {
    for (size_t i = (channel >> 32) % CHANNELS;; i = (i + 1) % CHANNELS) {
        if (channels[i].name == channel)
            return channels[i].count[sent]++;
        if (channels[i].name)
            continue;
        if (used == MOST_CHANNELS)
            return UINT32_MAX;
        used++;
        channels[i].name = channel;
        return channels[i].count[sent]++;
    }
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

/* Numbers a message and keeps its end, if it is one of those that are kept. */
struct posted log_message(const struct kind *kind, uint64_t posted, const struct channel_end *end) {
    const struct posted nothing = {0};
    const uint64_t channel = name_channel(end);
    const uint32_t sequence = count_message(channel, end->sent);
    if (sequence == UINT32_MAX) {
        header->lost_messages++;
        return nothing;
    }
    if (!is_sampled(sequence, header->message_level))
        return nothing;
    if (header->messages == MESSAGES) {
        thin_messages();
        if (header->messages == MESSAGES || !is_sampled(sequence, header->message_level))
            return nothing;
    }
    if (header->messages % AHEAD == 0)
        prepare_pages(&messages[header->messages], AHEAD * sizeof *messages);
    messages[header->messages] = (struct message){channel, sequence, number_kind(kind) | (end->sent ? SENT : 0), posted, 0, 0};
    return (struct posted){(uint32_t)++header->messages, header->message_level, 0};
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
    if (!end.sent && (receives_any(end.peer, end.tag) || (pending_any && is_behind_any(&end)))) {
        keep_receive(kind, call, &end, is_complete, posted);
        return;
    }
    struct posted one = log_message(kind, call->begin, &end);
    if (is_complete)
        finish_message(&one, call->begin, call->end, 0);
    else if (posted)
        *posted = one;
}

/* Places change whenever messages are thinned out. */
void finish_message(struct posted *posted, uint64_t begin, uint64_t end, const MPI_Status *status) {
    if (posted->receive) {
        finish_receive(posted->receive, begin, end, status);
    } else if (posted->message && posted->level == header->message_level) {
        struct message *const message = &messages[posted->message - 1];
        message->begin = begin > message->posted ? begin : message->posted;
        message->end = end;
    }
    *posted = (struct posted){0};
}
