/* Buffers.
 *
 *   slot     | guard | send ... | guard | receive ... | guard |
 *   cold     | slot | slot | slot | ...          more than the last-level cache, used in a scattered but fixed order
 *
 * Cyclic use of more memory than a cache holds always misses the cache, if it begins where filling began. */
#define _GNU_SOURCE
#include "kit/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/scan.h"
#include "kit/data.h"

enum { LINE = 64, HUGE_BYTES = 2 << 20, MOST_SLOTS = 1 << 22, MOST_FOR_ANY_ROOT = 4 << 20 };

static bool shares_buffer(const struct operation *operation, const struct call *call) {
    return operation->data.shares_buffer && operation->data.shares_buffer(call);
}

static long count_sent_bytes(const struct operation *operation, const struct call *call, struct amount sent) {
    const long bytes = count_amount_bytes(sent, call->message.bytes, call->peers.ranks, call->window.messages);
    return shares_buffer(operation, call) && bytes > 0 ? call->message.bytes : bytes;
}

struct amounts find_amounts(const struct operation *operation, const struct call *call, bool root) {
    const int room = operation->amounts.room ? operation->amounts.room : 1;
    const struct amount sent = root ? operation->amounts.root_send : operation->amounts.send;
    const struct amount received = root ? operation->amounts.root_receive : operation->amounts.receive;
    return (struct amounts){
        .send_bytes = room * count_sent_bytes(operation, call, sent),
        .receive_bytes = room * count_amount_bytes(received, call->message.bytes, call->peers.ranks, call->window.messages),
    };
}

/* --- layout --- */

static long read_page_bytes(void) {
    return sysconf(_SC_PAGESIZE);
}

/* Slots are multiples of this unit: the system takes back whole pages only. */
static long find_unit(const struct memory *memory) {
    return memory->cold && !memory->untouched ? LINE : read_page_bytes();
}

static long round_up(long value, long unit) {
    return (value + unit - 1) / unit * unit;
}

/* Data with a requested alignment lie at an odd multiple of it, so that they are not aligned better. */
static long align(const struct memory *memory, long from) {
    const long unit = memory->alignment;
    if (unit > 0)
        return from <= unit ? unit : round_up(from - unit, 2 * unit) + unit;
    return round_up(from, find_unit(memory));
}

/* Guards are a page; cold buffers, of which there are many, have a cache line, so that they do not need more pages than
 * their size. */
static long count_guard_bytes(const struct memory *memory) {
    return max(GUARD_BYTES, find_unit(memory));
}

static long find_slot_unit(const struct memory *memory) {
    const long unit = max(2 * memory->alignment, find_unit(memory));
    return memory->huge ? max(unit, HUGE_BYTES) : unit;
}

/* The step from slot to slot is about the golden section of their number: an order that processors do not predict, and
 * which visits each slot once per cycle. */
static int64_t find_step(int64_t slots) {
    int64_t step = (int64_t)((double)slots * 0.6180339887) + 1;
    while (gcd(slots, step) != 1)
        step++;
    return step;
}

/* Bytes of blocks including the gaps of their type. */
static long add_gaps(const struct call *call, long bytes) {
    return call->message.extent == call->message.bytes ? bytes : bytes / call->message.bytes * call->message.extent;
}

long count_receive_bytes(const struct call *call) {
    return add_gaps(call, call->buffers.receive_bytes);
}

static void plan_slot(struct buffers *buffers, const struct call *call) {
    const struct amounts as_root = find_amounts(buffers->operation, call, true);
    const struct amounts as_other = find_amounts(buffers->operation, call, false);
    const long most = max(as_root.send_bytes, as_other.send_bytes) + max(as_root.receive_bytes, as_other.receive_bytes);
    const bool root = call->peers.rank == call->peers.root, rotates = buffers->memory.root == ROTATING;
    /* The same on all ranks. Without rotating roots, room for another root serves one checked call only, and is
     * limited. */
    const bool either =
        rotates || (buffers->operation->ranks.rooted && !buffers->memory.cold && add_gaps(call, most) <= MOST_FOR_ANY_ROOT);
    buffers->any_root = either;
    const struct amounts local = root ? as_root : as_other;
    const long sent = add_gaps(call, either ? max(as_root.send_bytes, as_other.send_bytes) : local.send_bytes);
    const long received = add_gaps(call, either ? max(as_root.receive_bytes, as_other.receive_bytes) : local.receive_bytes);
    const long guard = count_guard_bytes(&buffers->memory);
    buffers->send_at = align(&buffers->memory, guard);
    buffers->receive_at = align(&buffers->memory, buffers->send_at + sent + guard);
    buffers->receive_room = received;
    buffers->stride = round_up(buffers->receive_at + received + guard, find_slot_unit(&buffers->memory));
}

static void set_slots(struct buffers *buffers, int64_t slots) {
    buffers->slots = min(slots, MOST_SLOTS);
    buffers->step = find_step(buffers->slots);
    buffers->map_bytes = buffers->stride * buffers->slots + find_slot_unit(&buffers->memory) + read_page_bytes();
}

long plan_buffers(struct buffers *buffers, const struct call *call, long share_bytes) {
    plan_slot(buffers, call);
    set_slots(buffers, buffers->memory.cold ? max(2, share_bytes / buffers->stride + 1) : 1);
    return buffers->map_bytes;
}

void plan_slots(struct buffers *buffers, const struct call *call, int64_t slots) {
    plan_slot(buffers, call);
    set_slots(buffers, slots);
}

/* --- memory --- */

static long read_huge_bytes(void) {
    long kib = 0;
    scan_file("/proc/self/smaps_rollup", "AnonHugePages: %ld kB", &kib);
    return kib * 1024;
}

bool make_buffers(struct buffers *buffers, char reason[REASON_BYTES]) {
    const long before = buffers->memory.huge ? read_huge_bytes() : 0; /* Slow to read. */
    void *map = mmap(NULL, (size_t)buffers->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        snprintf(reason, REASON_BYTES, "the system gave no memory for the buffers (%ld bytes)", buffers->map_bytes);
        return false;
    }
    buffers->map = map;
    const uintptr_t at = (uintptr_t)map;
    const uintptr_t unit = (uintptr_t)max(find_slot_unit(&buffers->memory), read_page_bytes());
    buffers->base = (unsigned char *)map + ((at + unit - 1) / unit * unit - at);
    /* If the system uses huge pages by itself, normal ones must be requested, too. */
    madvise(map, (size_t)buffers->map_bytes, buffers->memory.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(buffers->base, GUARD, (size_t)(buffers->stride * buffers->slots));
    if (buffers->memory.untouched && madvise(buffers->base, (size_t)buffers->stride, MADV_DONTNEED) != 0) {
        snprintf(reason, REASON_BYTES, "the system takes no pages back (madvise: %s)", strerror(errno));
        return false;
    }
    if (!buffers->memory.huge)
        return true;
    const long wanted = buffers->stride * buffers->slots / HUGE_BYTES, got = (read_huge_bytes() - before) / HUGE_BYTES;
    if (got >= wanted)
        return true;
    snprintf(reason, REASON_BYTES,
             "the system gave %ld of %ld huge pages: is memory fragmented, or "
             "/sys/kernel/mm/transparent_hugepage/enabled 'never'?",
             got, wanted);
    return false;
}

void free_buffers(struct buffers *buffers) {
    if (buffers->map)
        munmap(buffers->map, (size_t)buffers->map_bytes);
    buffers->map = NULL;
}

/* --- arrangement --- */

static bool is_in_place(const struct buffers *buffers, const struct call *call) {
    return buffers->memory.in_place && (!buffers->operation->ranks.rooted || call->peers.rank == call->peers.root);
}

static bool root_keeps(const struct buffers *buffers) {
    return buffers->operation->data.in_place == IN_PLACE_ROOT_KEEPS;
}

static unsigned char *find_slot_start(const struct buffers *buffers) {
    return buffers->base + buffers->slot * buffers->stride;
}

static unsigned char *find_send(const struct buffers *buffers) {
    return find_slot_start(buffers) + buffers->send_at;
}

static unsigned char *find_receive(const struct buffers *buffers, const struct call *call) {
    return call->buffers.elsewhere ? call->buffers.elsewhere : find_slot_start(buffers) + buffers->receive_at;
}

static void arrange(const struct buffers *buffers, struct call *call) {
    const struct amounts amounts = find_amounts(buffers->operation, call, call->peers.rank == call->peers.root);
    const bool in_place = is_in_place(buffers, call);
    call->buffers.send_bytes = amounts.send_bytes;
    call->buffers.receive_bytes = amounts.receive_bytes;
    call->buffers.send = in_place && !root_keeps(buffers) ? MPI_IN_PLACE : find_send(buffers);
    call->buffers.receive = in_place && root_keeps(buffers) ? MPI_IN_PLACE : find_receive(buffers, call);
}

void set_root(struct buffers *buffers, struct call *call, int root) {
    call->peers.root = root;
    arrange(buffers, call);
}

bool buffers_change(const struct buffers *buffers) {
    return buffers->slots > 1 || buffers->memory.root == ROTATING || buffers->memory.untouched;
}

static void advance_slot(struct buffers *buffers) {
    buffers->slot = (buffers->slot + buffers->step) % buffers->slots;
}

/* Pages that are only read would all be the system's single zero page: a byte is written to each page of the send
 * buffer. */
static void renew_pages(const struct buffers *buffers) {
    madvise(find_slot_start(buffers), (size_t)buffers->stride, MADV_DONTNEED);
    for (long at = buffers->send_at; at < buffers->receive_at; at += read_page_bytes())
        find_slot_start(buffers)[at] = 1;
}

void change_buffers(struct buffers *buffers, struct call *call) {
    if (buffers->slots > 1)
        advance_slot(buffers);
    if (buffers->memory.untouched)
        renew_pages(buffers);
    set_root(buffers, call, buffers->memory.root == ROTATING ? (call->peers.root + 1) % call->peers.ranks : call->peers.root);
}

/* --- contents --- */

/* Copies contiguous data, as `fill` and `check` see them, to the layout of a type with gaps. */
static void spread_data(const struct call *call, const unsigned char *packed, unsigned char *spaced, long bytes) {
    for (long i = 0; i < bytes; i++)
        spaced[find_buffer_place(call, i)] = packed[i];
}

static void pack_data(const struct call *call, const unsigned char *spaced, unsigned char *packed, long bytes) {
    for (long i = 0; i < bytes; i++)
        packed[i] = spaced[find_buffer_place(call, i)];
}

static bool has_gaps(const struct call *call) {
    return call->message.datatype->find_place && call->message.bytes > 0;
}

static void fill_and_record(struct buffers *buffers, struct call *call) {
    begin_recording(&buffers->changes.sent.segments);
    buffers->operation->hooks.fill(call);
    end_recording();
    begin_side(&buffers->changes.sent, call->buffers.send);
}

static void fill_with_gaps(struct buffers *buffers, struct call *call) {
    unsigned char *const send = call->buffers.send, *const receive = call->buffers.receive;
    call->buffers.send = obtain_memory((size_t)(call->buffers.send_bytes + call->buffers.receive_bytes + 1));
    call->buffers.receive = call->buffers.send + call->buffers.send_bytes;
    memset(call->buffers.send, GUARD, (size_t)(call->buffers.send_bytes + call->buffers.receive_bytes));
    fill_and_record(buffers, call);
    spread_data(call, call->buffers.send, send, call->buffers.send_bytes);
    spread_data(call, call->buffers.receive, receive, call->buffers.receive_bytes);
    free(call->buffers.send);
    call->buffers.send = send;
    call->buffers.receive = receive;
}

/* A hash that detects accidental changes. */
static uint64_t hash_bytes(const unsigned char *from, const unsigned char *to) {
    uint64_t hash = 0x9e3779b97f4a7c15u, word = 0;
    for (; from < to; from += sizeof word) {
        word = 0;
        memcpy(&word, from, to - from < (long)sizeof word ? (size_t)(to - from) : sizeof word);
        hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 31;
    }
    return hash;
}

static uint64_t hash_sent(const struct buffers *buffers) {
    return hash_bytes(find_slot_start(buffers) + buffers->send_at, find_slot_start(buffers) + buffers->receive_at);
}

/* Place of a rank's own data in a receive buffer in place. */
static long find_own_place(const struct buffers *buffers, const struct call *call) {
    return buffers->operation->data.in_place == IN_PLACE_BY_RANK ? call->peers.rank * call->message.extent : 0;
}

/* Data in place are those of the send buffer. */
static void copy_own_data(const struct buffers *buffers, const struct call *call) {
    if (is_in_place(buffers, call) && !root_keeps(buffers))
        memcpy(find_receive(buffers, call) + find_own_place(buffers, call), find_send(buffers),
               (size_t)add_gaps(call, call->buffers.send_bytes));
}

void fill_buffers(struct buffers *buffers, struct call *call) {
    call->buffers.runs_before = call->runs;
    buffers->changes.on = false;
    buffers->changes.turn = 0;
    memset(find_slot_start(buffers), GUARD, (size_t)buffers->stride);
    arrange(buffers, call);
    call->buffers.send = find_send(buffers);
    call->buffers.receive = find_receive(buffers, call);
    if (call->buffers.elsewhere)
        memset(call->buffers.elsewhere, GUARD, (size_t)add_gaps(call, call->buffers.receive_bytes));
    if (buffers->operation->hooks.fill)
        (has_gaps(call) ? fill_with_gaps : fill_and_record)(buffers, call);
    copy_own_data(buffers, call);
    arrange(buffers, call);
    buffers->sent = hash_sent(buffers);
}

/* Received data, spread over memory with guard bytes, are equal to the receive buffer unless a gap was written to. */
static bool are_gaps_intact(const struct call *call, const unsigned char *packed) {
    const size_t bytes = (size_t)add_gaps(call, call->buffers.receive_bytes);
    unsigned char *const right = obtain_memory(bytes + 1);
    memset(right, GUARD, bytes);
    spread_data(call, packed, right, call->buffers.receive_bytes);
    const bool stand = memcmp(right, call->buffers.receive, bytes) == 0;
    free(right);
    return stand;
}

static void begin_excerpt(struct excerpt *excerpt, const unsigned char *received) {
    memcpy(excerpt->received, received + excerpt->from, (size_t)excerpt->bytes);
    memcpy(excerpt->expected, received + excerpt->from, (size_t)excerpt->bytes);
}

void check_buffers(const struct buffers *buffers, const struct call *call, struct mismatch *mismatch) {
    if (!buffers->operation->hooks.check)
        return;
    set_turn(buffers->changes.turn);
    if (!has_gaps(call) || (const void *)call->buffers.receive == MPI_IN_PLACE) {
        if (mismatch->excerpt)
            begin_excerpt(mismatch->excerpt, find_receive(buffers, call));
        buffers->operation->hooks.check(call, mismatch);
        return;
    }
    struct call packed = *call;
    packed.buffers.receive = obtain_memory((size_t)call->buffers.receive_bytes + 1);
    pack_data(call, call->buffers.receive, packed.buffers.receive, call->buffers.receive_bytes);
    if (mismatch->excerpt)
        begin_excerpt(mismatch->excerpt, packed.buffers.receive);
    buffers->operation->hooks.check(&packed, mismatch);
    if (mismatch->wrong_bytes == 0 && !are_gaps_intact(call, packed.buffers.receive)) {
        mismatch->instead = "a gap of the datatype was written to";
        mismatch->wrong_bytes = 1;
    }
    free(packed.buffers.receive);
}

void clear_received(const struct buffers *buffers, struct call *call) {
    call->buffers.runs_before = call->runs;
    memset(find_receive(buffers, call), GUARD, (size_t)add_gaps(call, call->buffers.receive_bytes));
}

bool renews_own_data(const struct buffers *buffers) {
    const struct memory *memory = &buffers->memory;
    return memory->in_place && !memory->cold && !memory->untouched && !memory->threaded && !buffers->operation->data.accumulates;
}

bool leaves_data(const struct buffers *buffers) {
    return (!buffers->memory.in_place || renews_own_data(buffers)) && !buffers->memory.untouched &&
           !buffers->operation->data.accumulates;
}

bool can_renew(const struct buffers *buffers) {
    return leaves_data(buffers) && buffers->slots == 1;
}

/* Equal on all ranks. If messages share a buffer they are equal anyway, and the receiver alone would be late. */
static bool can_change(const struct buffers *buffers, const struct call *call) {
    const struct operation *operation = buffers->operation;
    return !shares_buffer(operation, call) && leaves_data(buffers) && !buffers->memory.cold && operation->hooks.fill &&
           operation->hooks.check && (!operation->data.keeps_buffers || operation->data.sends_alone) &&
           !operation->data.numbers_rounds;
}

void begin_turn(struct buffers *buffers, const struct call *call) {
    if (buffers->changes.on)
        change_side(&buffers->changes.sent, call, find_send(buffers), ++buffers->changes.turn);
}

void renew_own_data(const struct buffers *buffers, const struct call *call) {
    if (renews_own_data(buffers))
        copy_own_data(buffers, call);
}

/* One byte of a line is enough to have it in the cache. Others may write to memory that they can access at any time, so
 * what is received is only read. */
void use_data(const struct buffers *buffers, const struct call *call) {
    if (!buffers->memory.written)
        return;
    volatile unsigned char *const send = find_send(buffers);
    const volatile unsigned char *const receive = find_receive(buffers, call);
    for (long at = 0; at < add_gaps(call, call->buffers.send_bytes); at += LINE)
        send[at] = send[at];
    for (long at = 0; at < add_gaps(call, call->buffers.receive_bytes); at += LINE)
        (void)receive[at];
}

static void record_received(struct buffers *buffers, const struct call *call) {
    struct mismatch unused = {0};
    begin_recording(&buffers->changes.received.segments);
    if ((const void *)call->buffers.receive != MPI_IN_PLACE)
        buffers->operation->hooks.check(call, &unused);
    end_recording();
    begin_side(&buffers->changes.received, call->buffers.receive);
}

void fill_for_timing(struct buffers *buffers, struct call *call) {
    const int root = call->peers.root;
    const bool zeros = (buffers->memory.in_place && !renews_own_data(buffers)) || buffers->operation->data.accumulates;
    unsigned char *const first = find_slot_start(buffers);
    if (buffers->memory.root == ROTATING)
        call->peers.root = call->peers.rank;
    fill_buffers(buffers, call);
    if (zeros)
        memset(first, 0, (size_t)buffers->stride);
    if (buffers->operation->data.accumulates && call->buffers.elsewhere)
        memset(call->buffers.elsewhere, 0, (size_t)add_gaps(call, call->buffers.receive_bytes));
    buffers->sent = hash_sent(buffers);
    for (int64_t i = 1; i < buffers->slots; i++) {
        advance_slot(buffers);
        memcpy(find_slot_start(buffers), first, (size_t)buffers->stride);
    }
    set_root(buffers, call, root);
    buffers->changes.on = can_change(buffers, call);
    if (buffers->changes.on && !buffers->operation->data.keeps_buffers)
        record_received(buffers, call);
}

static bool is_guard(const unsigned char *from, const unsigned char *to) {
    return from == to || (*from == GUARD && memcmp(from, from + 1, (size_t)(to - from - 1)) == 0);
}

bool is_untouched(const struct buffers *buffers, const struct call *call) {
    const bool in_place = is_in_place(buffers, call) && !root_keeps(buffers);
    const unsigned char *const receive = find_receive(buffers, call);
    const unsigned char *const end = receive + add_gaps(call, call->buffers.receive_bytes);
    const unsigned char *const sent = receive + (in_place ? find_own_place(buffers, call) : 0);
    const long bytes = in_place ? add_gaps(call, call->buffers.send_bytes) : 0;
    return is_guard(receive, sent) && is_guard(sent + bytes, end) && memcmp(sent, find_send(buffers), (size_t)bytes) == 0;
}

bool are_guards_intact(const struct buffers *buffers, const struct call *call) {
    const long guard = count_guard_bytes(&buffers->memory);
    const unsigned char *const first = find_slot_start(buffers), *const receive = first + buffers->receive_at;
    /* Data received for earlier roots may still be there. */
    const long received = buffers->memory.root == ROTATING || call->buffers.elsewhere
                              ? buffers->receive_room
                              : add_gaps(call, call->buffers.receive_bytes);
    const unsigned char *const behind = receive + received;
    return is_guard(first, first + buffers->send_at) && is_guard(receive - guard, receive) &&
           is_guard(behind, first + buffers->stride);
}

bool is_send_intact(struct buffers *buffers, const struct call *call) {
    const struct changes *changes = &buffers->changes;
    if (buffers->operation->data.numbers_rounds)
        return true;
    if (changes->turn == 0)
        return buffers->sent == hash_sent(buffers);
    restore_side(&changes->sent, call, find_send(buffers));
    const bool intact = buffers->sent == hash_sent(buffers);
    change_side(&buffers->changes.sent, call, find_send(buffers), changes->turn);
    return intact;
}
