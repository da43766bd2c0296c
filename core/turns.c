/* A machine's state changes within seconds, often by more than libraries differ. What two launches measured one after the other then
 * says more about the machine than about them; what they measured within the same milliseconds, in turn, does not.
 *
 * Turns are numbered. Launch `place` of so many has every turn whose number leaves `place` over. The page is a file that all of them map;
 * whoever started the launches marks those whose processes have ended, and their turns are passed over. Those who wait are asleep in
 * the kernel: one that looked every now and then would take from the launch whose turn it is. */
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

/* How often those who wait look whether a launch has ended unseen, and say that they live. */
static const struct timespec LOOK = {.tv_nsec = 200000000};

enum presence { AWAY, HERE, DONE };

struct page {
    _Atomic uint32_t turn;
    _Atomic uint32_t presence[MOST_LAUNCHES];
};

struct turns {
    struct page *page;
    uint32_t place, launches, next;
    int stream;
    struct rest rest;
};

struct turns *open_turns(const char *said, FILE *stream, char error[LINE_BYTES]) {
    unsigned place, launches;
    int length = 0;
    struct stat facts;
    if (sscanf(said, "%u/%u:%n", &place, &launches, &length) != 2 || length == 0 || place >= launches || launches > MOST_LAUNCHES) {
        snprintf(error, LINE_BYTES, "--turns %.300s: not PLACE/LAUNCHES:FILE, of up to %d launches", said, MOST_LAUNCHES);
        return NULL;
    }
    const int file = open(said + length, O_RDWR | O_CLOEXEC);
    const bool holds_page = file >= 0 && fstat(file, &facts) == 0 && (size_t)facts.st_size >= sizeof(struct page);
    struct page *page = MAP_FAILED;
    if (holds_page)
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const char *const why = file >= 0 && !holds_page ? "too short" : strerror(errno);
    if (file >= 0)
        close(file);
    struct turns *turns = page == MAP_FAILED ? NULL : malloc(sizeof *turns);
    if (turns)
        *turns = (struct turns){page, place, launches, place, stream ? fileno(stream) : -1, {0}};
    else
        snprintf(error, LINE_BYTES, "--turns %.300s: %s", said, why);
    return turns;
}

static void wake(struct turns *turns) {
    syscall(SYS_futex, &turns->page->turn, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void sleep_while(struct turns *turns, uint32_t turn) {
    const bool long_asleep = syscall(SYS_futex, &turns->page->turn, FUTEX_WAIT, turn, &LOOK, NULL, 0) != 0 && errno == ETIMEDOUT;
    if (long_asleep && turns->stream >= 0)
        futimens(turns->stream, NULL);
}

static void await_all(struct turns *turns, enum presence wanted) {
    for (uint32_t i = 0; i < turns->launches; i++)
        while (atomic_load(&turns->page->presence[i]) < wanted)
            sleep_while(turns, atomic_load(&turns->page->turn));
}

static void be(struct turns *turns, enum presence presence) {
    atomic_store(&turns->page->presence[turns->place], presence);
    wake(turns);
}

void arrive(struct turns *turns, bool tells) {
    if (!turns)
        return;
    if (tells)
        be(turns, HERE);
    await_all(turns, HERE);
}

static int64_t busy_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

void await_turn(struct turns *turns) {
    if (!turns)
        return;
    const struct rest begun = {steady_ns(), busy_ns()};
    for (uint32_t now; (int32_t)((now = atomic_load(&turns->page->turn)) - turns->next) < 0;)
        if (atomic_load(&turns->page->presence[now % turns->launches]) != DONE)
            sleep_while(turns, now);
        else if (atomic_compare_exchange_strong(&turns->page->turn, &now, now + 1))
            wake(turns);
    turns->next += turns->launches;
    turns->rest.waited_ns += steady_ns() - begun.waited_ns;
    turns->rest.busy_ns += busy_ns() - begun.busy_ns;
}

struct rest rested(const struct turns *turns) {
    return turns ? turns->rest : (struct rest){0};
}

void pass_turn(struct turns *turns) {
    if (!turns)
        return;
    atomic_fetch_add(&turns->page->turn, 1);
    wake(turns);
}

void leave_turns(struct turns *turns, bool tells) {
    if (!turns)
        return;
    if (tells)
        be(turns, DONE);
    await_all(turns, DONE);
    munmap(turns->page, sizeof *turns->page);
    free(turns);
}
