/* The tables of a rank: kinds of calls, found by a hash of what distinguishes them, and arrivals at collectives. */
#include "recorder.h"
#include "startup.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { AHEAD_KINDS = 64, PLACES = 2 * KINDS, FULL = KINDS * 3 / 4, SPINS = 100, UNROUNDED = BINS_PER_OCTAVE };

struct header *header;
bool recording, threaded;
_Thread_local bool inside __attribute__((tls_model("initial-exec")));
struct kind *kinds;
static struct arrival *arrivals;
static uint16_t places[PLACES]; /* 1 + index of a kind; 0: free */
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* The holder may have lost its CPU to a thread that waits. */
void lock_tables(void) {
    static const void *first;
    for (unsigned tries = 1; atomic_flag_test_and_set_explicit(&busy, memory_order_acquire); tries++)
        if (tries % SPINS == 0)
            sched_yield();
    if (!first)
        first = &inside;
    if (first != &inside)
        header->threads = SEVERAL;
}

void unlock_tables(void) {
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

/* Space is reserved first: a full disk would end the program later. Nothing may end it now, such as a limit of file sizes. */
static void *map_file(const char *path, size_t bytes) {
    struct rlimit most;
    void *place = MAP_FAILED;
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < bytes)
        return 0;
    const int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor >= 0 && posix_fallocate(descriptor, 0, (off_t)bytes) == 0)
        place = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (descriptor >= 0)
        close(descriptor);
    if (place != MAP_FAILED)
        return place;
    if (descriptor >= 0)
        unlink(path);
    return 0;
}

/* A rank without a file takes part in what all ranks do together. */
void begin_calls(const char *path, const struct started *started) {
    static struct header unwritten;
    const size_t calls = HEADER_BYTES + KINDS * sizeof(struct kind) + ARRIVALS * sizeof(struct arrival);
    void *const place = map_file(path, calls + MESSAGES * sizeof(struct message));
    header = place ? place : &unwritten;
    *header = (struct header){.magic = "RBCALLS", .layout = LAYOUT, .threads = started->threaded};
    header->rank = (uint32_t)started->rank;
    header->ranks = (uint32_t)started->ranks;
    header->pid = (uint32_t)getpid();
    resolve_library();
    if (!place) {
        fprintf(stderr, "rankbench: %s: cannot be written; calls of rank %d are not recorded\n", path, started->rank);
        compare_clocks(header, false);
        return;
    }
    kinds = (struct kind *)((char *)place + HEADER_BYTES);
    arrivals = (struct arrival *)(kinds + KINDS);
    place_messages((char *)place + calls);
    threaded = started->threaded;
    snprintf(header->library, sizeof header->library, "%s", started->library);
    snprintf(header->version, sizeof header->version, "%s", started->version);
    gethostname(header->host, sizeof header->host - 1);
    prepare_pages(header, HEADER_BYTES + AHEAD_KINDS * sizeof *kinds); /* no part of the program's time */
    prepare_pages(arrivals, AHEAD * sizeof *arrivals);
    prepare_first_messages();
    compare_clocks(header, false);
    header->last_ticks = header->first_ticks;
    identify(library.world, find_communicator(library.world));
    recording = true;
}

/* Also for programs that end without MPI_Finalize. A child that was forked shares the file and must not write. */
void end_calls(bool finalised) {
    if (!header || header->ended_ticks || header->pid != (uint32_t)getpid())
        return;
    read_pair(&header->last_ticks, &header->last_ns);
    header->ended_ticks = header->last_ticks;
    recording = false;
    if (finalised)
        compare_clocks(header, true);
    header->finalised = finalised;
}

static struct kind *find_place(const struct features *wanted, const char *name) {
    const uint64_t hash = mix(wanted->bytes + mix((uint64_t)wanted->call << 40 ^ (uint64_t)wanted->ranks << 2 ^
                                                  (uint64_t)(uint32_t)wanted->root << 20 ^ (uint64_t)wanted->content << 1 ^
                                                  (uint64_t)wanted->started));
    for (size_t i = (hash >> 32) % PLACES;; i = (i + 1) % PLACES) {
        if (places[i]) {
            struct kind *const kind = &kinds[places[i] - 1];
            if (memcmp(&kind->is, wanted, sizeof *wanted) == 0)
                return kind;
            continue;
        }
        if (header->kinds >= (wanted->bytes == ANY_SIZE ? KINDS : FULL))
            return 0;
        struct kind *const kind = &kinds[header->kinds];
        kind->is = *wanted;
        snprintf(kind->name, sizeof kind->name, "%s", name);
        kind->shortest = UINT64_MAX;
        places[i] = (uint16_t)++header->kinds;
        return kind;
    }
}

/* Where the table is full, calls that differ in size, root or communicator only become one kind. */
struct kind *find_kind(const struct call *call, int number, const char *name, bool started) {
    struct features wanted = {
        .bytes = call->bytes, .call = number, .started = started, .content = call->content, .root = call->root};
    wanted.ranks = call->group ? call->group->ranks : 0;
    struct kind *kind = find_place(&wanted, name);
    if (kind)
        return kind;
    header->merged_kinds++;
    wanted = (struct features){.bytes = ANY_SIZE, .call = number, .started = started, .root = NO_ROOT};
    kind = find_place(&wanted, name);
    return kind ? kind : &kinds[0];
}

/* Bins are eighths of an octave; the first ones have a tick each. */
static unsigned find_bin(uint64_t ticks) {
    if (ticks < UNROUNDED)
        return (unsigned)ticks;
    const unsigned octave = 63 - (unsigned)__builtin_clzll(ticks);
    const unsigned bin = (octave - 2) * BINS_PER_OCTAVE + (unsigned)(ticks >> (octave - 3) & (BINS_PER_OCTAVE - 1));
    return bin < BINS ? bin : BINS - 1;
}

/* The distance to a partner is counted upwards from the own rank, around the end. */
static void count_partner(struct kind *kind, const struct call *call) {
    const struct group *const group = call->group;
    int distance = call->peer;
    if (distance < 0)
        distance = distance == MPI_PROC_NULL ? NOBODY : ANYBODY;
    else if (group && !group->inter)
        distance += distance < group->rank ? group->ranks - group->rank : -group->rank;
    for (int i = 0; i < PARTNERS; i++) {
        struct partner *const partner = &kind->partners[i];
        if (partner->calls == 0)
            partner->distance = distance;
        if (partner->distance == distance) {
            partner->calls++;
            return;
        }
    }
    kind->other_partners++;
}

void count_call(struct kind *kind, const struct call *call) {
    const uint64_t ticks = call->end - call->begin;
    kind->calls++;
    kind->ticks += ticks;
    if (call->begin > header->last_ticks) {
        kind->between += call->begin - header->last_ticks;
        header->outside += call->begin - header->last_ticks;
    }
    if (ticks < kind->shortest)
        kind->shortest = ticks;
    if (ticks > kind->longest)
        kind->longest = ticks;
    kind->bins[find_bin(ticks)]++;
    if (call->peer != NO_PEER)
        count_partner(kind, call);
    header->last_ticks = call->end;
}

/* All ranks of a communicator keep the same calls, since it depends on the number of the call only. */
static bool is_kept(uint64_t communicator, uint32_t sequence) {
    return is_sampled(communicator + sequence, header->level);
}

static void thin_arrivals(void) {
    size_t kept = 0;
    header->level++;
    for (size_t i = 0; i < header->arrivals; i++)
        if (is_kept(arrivals[i].communicator, arrivals[i].sequence))
            arrivals[kept++] = arrivals[i];
    header->arrivals = kept;
}

SELDOM static bool make_room(const struct group *group) {
    if (header->arrivals == ARRIVALS)
        thin_arrivals();
    read_pair(&header->later_ticks, &header->later_ns);
    if (header->arrivals == ARRIVALS || !is_kept(group->identity, group->sequence))
        return false;
    prepare_pages(&arrivals[header->arrivals], AHEAD * sizeof *arrivals);
    return true;
}

/* Older systems do not know this request. */
void prepare_pages(void *place, size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    const uintptr_t begin = (uintptr_t)place & ~(uintptr_t)(HEADER_BYTES - 1);
    madvise((void *)begin, (uintptr_t)place + bytes - begin, MADV_POPULATE_WRITE);
#else
    (void)place;
    (void)bytes;
#endif
}

void log_arrival(const struct call *call, const struct kind *kind) {
    const struct group *const group = call->group;
    if (group->identity == 0 || !is_kept(group->identity, group->sequence))
        return;
    if (header->arrivals % AHEAD == 0 && !make_room(group))
        return;
    struct arrival *const arrival = &arrivals[header->arrivals++];
    arrival->communicator = group->identity;
    arrival->sequence = group->sequence;
    arrival->kind = number_kind(kind) | (call->root == group->rank ? ROOT : 0);
    arrival->begin = call->begin;
    arrival->end = call->end;
    arrival->outside = header->outside;
}
