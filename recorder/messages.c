/* Messages between two ranks: when each end was posted and completed, so that waiting for a late partner can be told from
 * transferring.
 *
 * The n-th message of one sender to one receiver, with one tag in one communicator, is the n-th at both ends, since
 * messages do not overtake. Each rank keeps its own ends; they are joined when the run is over. The source and tag of a
 * blocking receive of any are in its status. Other receives of any source or tag, and matched probes, take messages of
 * unknown number: from then on the rank keeps no receives in that communicator. */
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
    const struct channel_end unknown = {0, sent};
    if (!group || peer == MPI_PROC_NULL)
        return unknown;
    if (!sent && receives_any(peer, tag))
        group->has_wildcards = true;
    const uint64_t identity = group->is_kept ? identify(communicator, group) : 0;
    if (!identity || (!sent && group->has_wildcards)) {
        header->lost_messages++;
        return unknown;
    }
    const int from = sent ? group->rank : peer, to = sent ? peer : group->rank;
    return (struct channel_end){mix(identity + mix((uint64_t)(uint32_t)from << 32 | (uint32_t)to) + mix((uint32_t)tag)) | 1,
                                sent};
}

/* The number of the next message; UINT32_MAX: there is no place for its channel. */
static uint32_t count_message(struct channel_end end) {
    for (size_t i = (end.channel >> 32) % CHANNELS;; i = (i + 1) % CHANNELS) {
        if (channels[i].name == end.channel)
            return channels[i].count[end.sent]++;
        if (channels[i].name)
            continue;
        if (used == MOST_CHANNELS)
            return UINT32_MAX;
        used++;
        channels[i].name = end.channel;
        return channels[i].count[end.sent]++;
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

/* Returns 1 + the place of the message, for `complete_message`; 0: it is not kept. */
uint32_t log_message(const struct kind *kind, const struct call *call, struct channel_end end, bool is_complete) {
    if (!end.channel)
        return 0;
    const uint32_t sequence = count_message(end);
    if (sequence == UINT32_MAX) {
        header->lost_messages++;
        return 0;
    }
    if (!is_sampled(sequence, header->message_level))
        return 0;
    if (header->messages == MESSAGES) {
        thin_messages();
        if (header->messages == MESSAGES || !is_sampled(sequence, header->message_level))
            return 0;
    }
    if (header->messages % AHEAD == 0)
        prepare_pages(&messages[header->messages], AHEAD * sizeof *messages);
    struct message *const message = &messages[header->messages];
    *message = (struct message){end.channel, sequence, number_kind(kind) | (end.sent ? SENT : 0), call->begin, 0, 0};
    if (is_complete) {
        message->begin = call->begin;
        message->end = call->end;
    }
    return (uint32_t)++header->messages;
}

/* Places change whenever messages are thinned out. */
void complete_message(uint32_t number, uint32_t level, uint64_t begin, uint64_t end) {
    if (number == 0 || level != header->message_level)
        return;
    struct message *const message = &messages[number - 1];
    message->begin = begin > message->posted ? begin : message->posted;
    message->end = end;
}
