#include "kit/reference.h"

#include <stdlib.h>

#include "base/allocation.h"

/* Largest copy; bytes at either end that are always compared; and the step between changed bytes as a share of the
 * rest. */
enum { MOST_KEPT = 1 << 20, END_BYTES = 64 };
static const double GOLDEN = 0.6180339887;

bool can_be_kept(long bytes) {
    return bytes > 0 && bytes <= MOST_KEPT;
}

/* Bytes that no call writes, such as those of a missing neighbour, still hold GUARD. */
static void find_ends(struct reference *reference, const struct call *call) {
    reference->first = 0;
    reference->last = call->buffers.receive_bytes - 1;
    while (reference->last >= 0 && reference->right[find_buffer_place(call, reference->last)] == GUARD)
        reference->last--;
    while (reference->first < reference->last && reference->right[find_buffer_place(call, reference->first)] == GUARD)
        reference->first++;
}

void keep_reference(struct reference *reference, struct buffers *buffers, const struct call *call, long bytes) {
    if (reference->bytes != bytes || !reference->right) {
        free(reference->right);
        reference->right = try_memory((size_t)bytes);
    }
    reference->ready = reference->right != NULL;
    if (!reference->ready)
        return;
    reference->data = call->buffers.receive;
    reference->bytes = bytes;
    reference->call = call;
    reference->changes = &buffers->changes;
    reference->in_place = buffers->memory.in_place;
    memcpy(reference->right, reference->data, (size_t)bytes);
    find_ends(reference, call);
    reference->ready = reference->last >= 0;
    adopt_side(&buffers->changes.received, call, buffers->changes.turn);
}

void free_reference(struct reference *reference) {
    free(reference->right);
    *reference = (struct reference){0};
}

static long find_next_position(struct reference *reference) {
    const long length = reference->last - reference->first + 1;
    reference->next = (reference->next + (long)((double)length * GOLDEN) + 1) % length;
    return reference->first + reference->next;
}

void follow_turn(struct reference *reference) {
    if (reference->changes->turn)
        change_side(&reference->changes->received, reference->call, reference->right, reference->changes->turn);
}

void change_received(struct reference *reference) {
    if (reference->in_place)
        return;
    const long positions[CHANGED_BYTES] = {reference->first, reference->last, find_next_position(reference)};
    for (int i = 0; i < CHANGED_BYTES; i++) {
        const long place = reference->places[i] = find_buffer_place(reference->call, positions[i]);
        reference->data[place] = reference->right[place] ^ (reference->right[place] == GUARD ? 0 : 0xff);
    }
}

static bool is_same(const struct reference *reference, long from, long bytes) {
    return memcmp(reference->data + from, reference->right + from, (size_t)bytes) == 0;
}

bool is_right_again(struct reference *reference, long window_bytes) {
    const long bytes = reference->bytes;
    if (bytes <= window_bytes + 2 * END_BYTES)
        return is_same(reference, 0, bytes);
    for (int i = 0; i < CHANGED_BYTES && !reference->in_place; i++)
        if (!is_same(reference, reference->places[i], 1))
            return false;
    if (!are_changes_equal(&reference->changes->received, reference->call, reference->data, reference->right))
        return false;
    reference->window = (reference->window + window_bytes) % (bytes - window_bytes);
    return is_same(reference, 0, END_BYTES) && is_same(reference, bytes - END_BYTES, END_BYTES) &&
           is_same(reference, reference->window, window_bytes);
}

/* Bytes that no call writes are not changed. */
bool keeps_changes(const struct reference *reference) {
    int changed = 0;
    for (int i = 0; i < CHANGED_BYTES && !reference->in_place; i++) {
        const long place = reference->places[i];
        if (reference->right[place] == GUARD)
            continue;
        if (reference->data[place] != (unsigned char)(reference->right[place] ^ 0xff))
            return false;
        changed++;
    }
    return changed > 0;
}

void restore_received(struct reference *reference) {
    for (int i = 0; i < CHANGED_BYTES && !reference->in_place; i++) {
        const long place = reference->places[i];
        if (reference->data[place] == (unsigned char)(reference->right[place] ^ 0xff))
            reference->data[place] = reference->right[place];
    }
}
