#include "kit/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"

long find_buffer_place(const struct call *call, long position) {
    if (!call->message.datatype->find_place || call->message.bytes == 0)
        return position;
    return position / call->message.bytes * call->message.extent +
           call->message.datatype->find_place(position % call->message.bytes, call->message.bytes);
}

void begin_side(struct side *side, const unsigned char *start) {
    const int count = side->segments.count;
    if (count > side->room) {
        free(side->originals);
        side->originals = obtain_memory(sizeof *side->originals * (size_t)count);
        side->room = count;
    }
    for (int i = 0; i < count; i++) {
        side->segments.each[i].at = side->segments.each[i].data - start;
        side->originals[i].bytes = 0;
    }
}

static void write_bytes(const struct call *call, unsigned char *buffer, long at, const unsigned char *content, int bytes) {
    for (int i = 0; i < bytes; i++)
        buffer[find_buffer_place(call, at + i)] = content[i];
}

/* Without gaps a change has a constant size nearly always. */
static inline void put_content(const struct call *call, unsigned char *buffer, long at, const struct change *change) {
    if (call->message.datatype->find_place)
        write_bytes(call, buffer, at, change->content, change->bytes);
    else if (change->bytes == sizeof(uint32_t))
        memcpy(buffer + at, change->content, sizeof(uint32_t));
    else
        memcpy(buffer + at, change->content, (size_t)change->bytes);
}

static inline void keep_content(const struct call *call, const unsigned char *buffer, long at, struct change *change) {
    if (!call->message.datatype->find_place)
        memcpy(change->content, buffer + at, (size_t)change->bytes);
    else
        for (int i = 0; i < change->bytes; i++)
            change->content[i] = buffer[find_buffer_place(call, at + i)];
}

void restore_side(const struct side *side, const struct call *call, unsigned char *buffer) {
    for (int i = 0; i < side->segments.count; i++)
        put_content(call, buffer, side->segments.each[i].at + side->originals[i].at, &side->originals[i]);
}

void change_side(struct side *side, const struct call *call, unsigned char *buffer, int64_t turn) {
    for (int i = 0; i < side->segments.count; i++) {
        const struct segment *segment = &side->segments.each[i];
        const struct change change = find_change(call, segment, turn);
        struct change *original = &side->originals[i];
        put_content(call, buffer, segment->at + original->at, original);
        original->at = change.at;
        original->bytes = change.bytes;
        keep_content(call, buffer, segment->at + change.at, original);
        put_content(call, buffer, segment->at + change.at, &change);
    }
}

void adopt_side(struct side *side, const struct call *call, int64_t turn) {
    for (int i = 0; i < side->segments.count; i++)
        side->originals[i] = turn ? find_unchanged(call, &side->segments.each[i], turn) : (struct change){.bytes = 0};
}

bool are_changes_equal(const struct side *side, const struct call *call, const unsigned char *a, const unsigned char *b) {
    for (int i = 0; i < side->segments.count; i++)
        for (int k = 0; k < side->originals[i].bytes; k++) {
            const long place = find_buffer_place(call, side->segments.each[i].at + side->originals[i].at + k);
            if (a[place] != b[place])
                return false;
        }
    return true;
}

static void free_side(struct side *side) {
    free(side->segments.each);
    free(side->originals);
}

void free_changes(struct changes *changes) {
    free_side(&changes->sent);
    free_side(&changes->received);
    *changes = (struct changes){.on = false};
}
