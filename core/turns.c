/* A machine's state changes within seconds, often by more than libraries differ. What two launches measured one after the other then
 * says more about the machine than about them; what they measured within the same milliseconds, in turn, does not.
 *
 * Turns are numbered. Launch `place` of so many has every turn whose number leaves `place` over; the turns of one that has ended are
 * passed over. Each host has a page of its own, a file that all launches map there: since all hosts go through the same order, and a
 * launch passes its turn on when all of its ranks have ended theirs, hosts need not tell each other anything. On each host one rank
 * speaks for its launch.
 *
 * A page of one host only is the launcher's, who marks launches whose processes are gone. Else no launcher sees all pages: ranks make
 * them, and locks that go with their processes tell who lives.
 *
 * Those who wait are asleep in the kernel, and only those whose turn it is are woken: one that looked every now and then would take
 * from the launch that measures. */
#define _GNU_SOURCE
#include "turns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "steady.h"

/* How often those who wait look whether a launch has ended unseen, how often they say that they live, and how long a launch may take to
 * come when another is there already. */
enum { LOOK_NS = 200000000 };
#define SIGN_NS INT64_C(1000000000)
#define ARRIVAL_NS INT64_C(60000000000)
enum { HOST_BYTES = 256, BITS = 32, MOST_LOCKS = 1 << 16 };
/* A launch is ended from outside once it is silent for 4/3 of its patience. So no turn lasts much longer, and nobody may live by waiting
 * for one that does. */
#define PATIENCES 4

enum presence { AWAY, HERE, DONE };

struct page {
    _Atomic uint32_t turn;
    _Atomic uint32_t presence[MOST_LAUNCHES];
    /* Counts the changes of any presence. */
    _Atomic uint32_t changes;
    /* That have come, of each launch. */
    _Atomic uint32_t ranks[MOST_LAUNCHES];
};

struct turns {
    struct page *page;
    uint32_t place, launches, next;
    bool speaks;
    int file, stream;
    int64_t signed_ns, moved_ns, patience_ns;
    uint32_t moves;
    struct rest rest;
    /* Whether ranks have made the page, and its name until it needs none any more. */
    bool made;
    char name[LINE_BYTES];
};

/* --- the page --- */

/* The path, in which the host's name stands in place of %. */
static void name_page(const char *said, char path[LINE_BYTES]) {
    char host[HOST_BYTES] = "";
    const char *const mark = strchr(said, '%');
    gethostname(host, sizeof host - 1);
    if (mark)
        snprintf(path, LINE_BYTES, "%.*s%s%s", (int)(mark - said), said, host, mark + 1);
    else
        snprintf(path, LINE_BYTES, "%s", said);
}

/* A page that has a name for each host is made by whoever comes first. */
static struct page *map_page(int file, bool make, const char **why) {
    struct stat facts;
    if (make && ftruncate(file, sizeof(struct page)) != 0)
        *why = strerror(errno);
    else if (fstat(file, &facts) != 0 || (size_t)facts.st_size < sizeof(struct page))
        *why = "too short";
    else {
        struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        *why = strerror(errno);
        return page == MAP_FAILED ? NULL : page;
    }
    return NULL;
}

static struct flock locks_of(uint32_t place) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place * MOST_LOCKS, .l_len = MOST_LOCKS};
}

/* Tells that this rank lives. The first rank of a launch on a host speaks for it there. */
static bool enrol(struct turns *turns) {
    const uint32_t number = atomic_fetch_add(&turns->page->ranks[turns->place], 1);
    struct flock lock = locks_of(turns->place);
    lock.l_start += number % MOST_LOCKS;
    lock.l_len = 1;
    return (!turns->made || fcntl(turns->file, F_SETLK, &lock) == 0) && number == 0;
}

struct turns *open_turns(const char *said, FILE *stream, double patience_s, char error[LINE_BYTES]) {
    unsigned place, launches;
    int length = 0;
    if (sscanf(said, "%u/%u:%n", &place, &launches, &length) != 2 || length == 0 || place >= launches || launches > MOST_LAUNCHES) {
        snprintf(error, LINE_BYTES, "--turns %.300s: not PLACE/LAUNCHES:FILE, of up to %d launches", said, MOST_LAUNCHES);
        return NULL;
    }
    char path[LINE_BYTES];
    const bool make = strchr(said + length, '%') != NULL;
    name_page(said + length, path);
    const int file = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
    const char *why = strerror(errno);
    struct page *page = file < 0 ? NULL : map_page(file, make, &why);
    struct turns *turns = page ? malloc(sizeof *turns) : NULL;
    if (!turns) {
        snprintf(error, LINE_BYTES, "--turns %.300s: %s", said, why);
        if (file >= 0)
            close(file);
        return NULL;
    }
    *turns = (struct turns){.page = page, .place = place, .launches = launches, .next = place, .file = file, .made = make};
    turns->stream = stream ? fileno(stream) : -1;
    turns->patience_ns = (int64_t)(1e9 * PATIENCES * patience_s);
    turns->speaks = enrol(turns);
    if (turns->speaks && make)
        strcpy(turns->name, path);
    return turns;
}

static void unname(struct turns *turns) {
    if (*turns->name)
        unlink(turns->name);
    *turns->name = '\0';
}

static bool all_have_come(const struct turns *turns) {
    for (uint32_t i = 0; i < turns->launches; i++)
        if (atomic_load(&turns->page->ranks[i]) == 0)
            return false;
    return true;
}

/* --- sleeping and waking --- */

static uint32_t bit_of(uint32_t place) {
    return 1U << place % BITS;
}

static void wake(_Atomic uint32_t *word, uint32_t bits) {
    syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL, bits);
}

/* Says that it lives, as long as the launches get on. */
static void sign(struct turns *turns) {
    const int64_t now_ns = steady_ns();
    const uint32_t moves = atomic_load(&turns->page->turn) + atomic_load(&turns->page->changes);
    if (moves != turns->moves || turns->moved_ns == 0) {
        turns->moves = moves;
        turns->moved_ns = now_ns;
    }
    if (turns->stream < 0 || now_ns - turns->signed_ns < SIGN_NS || now_ns - turns->moved_ns > turns->patience_ns)
        return;
    futimens(turns->stream, NULL);
    turns->signed_ns = now_ns;
}

/* Returns whether it slept long enough to look after the others. */
static bool sleep_while(struct turns *turns, _Atomic uint32_t *word, uint32_t value, uint32_t bits) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until); /* By which the kernel counts. */
    until.tv_nsec += LOOK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &until, NULL, bits) == 0 || errno != ETIMEDOUT)
        return false;
    sign(turns);
    return true;
}

/* Passes the turns of launches that have ended over, and wakes the one whose turn it then is. */
static void settle(struct turns *turns) {
    struct page *page = turns->page;
    uint32_t now = atomic_load(&page->turn);
    for (uint32_t i = 0; i < turns->launches && atomic_load(&page->presence[now % turns->launches]) == DONE; i++)
        if (atomic_compare_exchange_strong(&page->turn, &now, now + 1))
            now++;
    wake(&page->turn, bit_of(now % turns->launches));
}

/* --- who is there --- */

/* Returns false if it is something else meanwhile. */
static bool become(struct turns *turns, uint32_t place, enum presence before, enum presence after) {
    uint32_t expected = before;
    if (!atomic_compare_exchange_strong(&turns->page->presence[place], &expected, after))
        return false;
    atomic_fetch_add(&turns->page->changes, 1);
    wake(&turns->page->changes, FUTEX_BITSET_MATCH_ANY);
    if (after == DONE)
        settle(turns);
    return true;
}

/* Notices that all of another launch's processes on this host are gone. */
static void look_after(struct turns *turns, uint32_t place) {
    struct flock lock = locks_of(place);
    const bool seen = turns->made && place != turns->place && atomic_load(&turns->page->presence[place]) == HERE;
    if (seen && fcntl(turns->file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK)
        become(turns, place, HERE, DONE);
}

/* Waits until every launch is at least as far, those that are gone or given up included. */
static bool await_all(struct turns *turns, enum presence wanted, int64_t until_ns) {
    for (uint32_t i = 0; i < turns->launches; i++)
        for (;;) {
            const uint32_t changes = atomic_load(&turns->page->changes);
            if (atomic_load(&turns->page->presence[i]) >= wanted)
                break;
            if (!sleep_while(turns, &turns->page->changes, changes, FUTEX_BITSET_MATCH_ANY))
                continue;
            look_after(turns, i);
            if (steady_ns() > until_ns)
                return false;
        }
    return true;
}

/* Whoever comes later than that finds itself given up on this host, whose turns go on without it. */
static bool give_up_those_away(struct turns *turns) {
    uint32_t known = 0;
    for (uint32_t i = 0; i < turns->launches; i++)
        if (!become(turns, i, AWAY, DONE))
            known += i != turns->place;
    return known > 0;
}

bool arrive(struct turns *turns) {
    if (!turns)
        return true;
    if (turns->speaks && !become(turns, turns->place, AWAY, HERE))
        return false;
    if (!await_all(turns, HERE, steady_ns() + ARRIVAL_NS))
        return give_up_those_away(turns);
    if (all_have_come(turns)) /* Else one that comes yet must find the page on which it was given up. */
        unname(turns);
    return atomic_load(&turns->page->presence[turns->place]) == HERE;
}

/* --- turns --- */

static int64_t busy_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void await_turn(struct turns *turns) {
    if (!turns)
        return;
    sign(turns);
    const struct rest begun = {steady_ns(), busy_ns()};
    for (uint32_t now; (int32_t)((now = atomic_load(&turns->page->turn)) - turns->next) < 0;)
        if (sleep_while(turns, &turns->page->turn, now, bit_of(turns->place))) {
            look_after(turns, now % turns->launches);
            settle(turns);
        }
    turns->next += turns->launches;
    turns->rest.waited_ns += steady_ns() - begun.waited_ns;
    turns->rest.busy_ns += busy_ns() - begun.busy_ns;
}

struct rest rested(const struct turns *turns) {
    return turns ? turns->rest : (struct rest){0};
}

void pass_turn(struct turns *turns) {
    if (!turns || !turns->speaks)
        return;
    atomic_fetch_add(&turns->page->turn, 1);
    settle(turns);
}

void leave_turns(struct turns *turns) {
    if (!turns)
        return;
    if (turns->speaks)
        become(turns, turns->place, HERE, DONE);
    await_all(turns, DONE, INT64_MAX);
    unname(turns);
    munmap(turns->page, sizeof *turns->page);
    close(turns->file);
    free(turns);
}
