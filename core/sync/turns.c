/* The state of a machine changes within seconds, often by more than libraries differ. Launches measured one after the
 * other therefore compare states of the machine; launches that measure in turn, within the same milliseconds, compare
 * libraries.
 *
 * Turns are numbered. Each round has one turn per launch; turns of launches that have ended are skipped. Since the
 * launch that ran before may matter, the order differs between rounds: over the visits of a case it follows the rows of
 * a Williams square (1949), in which each launch has each place, and follows each other launch, equally often.
 *
 * Each host has a page, a file that all launches map there. All hosts use the same order, and a launch passes its turn
 * on when all of its ranks have ended it, so hosts exchange nothing. On each host one rank acts for its launch.
 *
 * With one host the page is the launcher's, which marks launches whose processes are gone and wakes those that wait.
 * With several hosts no launcher sees all pages: ranks create them, and file locks, which end with their processes,
 * show which launches are alive.
 *
 * Waiting ranks sleep in the kernel, and only those whose turn it is are woken: polling would take CPU time from the
 * launch that measures. But MPI guarantees progress inside its calls only: a library may delay a message until its rank
 * calls it again. So ranks that have ended their turn call MPI until all ranks of their host have left the barrier, once
 * before they sleep, and then at every check. */
#define _GNU_SOURCE
#include "sync/turns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/allocation.h"
#include "base/scan.h"
#include "base/steady.h"
#include "base/time_parts.h"
#include "base/tree.h"

/* Interval at which waiting ranks check whether a launch has ended unnoticed. */
enum { CHECK_NS = 200000000 };
/* Pause between two calls that give the library progress, after the first calls without a pause. */
enum { NAP_NS = 200000, CALLS_AT_ONCE = 100 };
#define ARRIVAL_NS INT64_C(60000000000)
/* Signs of life per patience: each one changes a file that others may cache. */
#define LIFE_SIGNS 8
enum { MOST_LAUNCHERS = 8 };
enum { HOST_BYTES = 256, BITS = 32, MOST_LOCKS = 1 << 16 };
/* A launch is ended from outside after 4/3 of its patience without a sign of life. A turn therefore does not last much
 * longer, and nobody shows life for longer while waiting for one. */
#define PATIENCES 4

enum presence { AWAY, HERE, DONE };

struct page {
    _Atomic uint32_t turn;
    _Atomic uint32_t presence[MOST_LAUNCHES];
    /* Counts the changes of presence. */
    _Atomic uint32_t changes;
    /* Ranks of each launch that have arrived. */
    _Atomic uint32_t ranks[MOST_LAUNCHES];
    /* Place of the launch that ended the last turn, plus 1. */
    _Atomic uint32_t last;
    /* Per launch: how often ranks have left the barrier that ends a turn. */
    _Atomic uint32_t ends[MOST_LAUNCHES];
    /* Per launch: a number that changes while it waits and is alive. */
    _Atomic uint32_t life_signs[MOST_LAUNCHES];
};
/* The offsets in launch/turn_page.py. */
_Static_assert(offsetof(struct page, changes) == 260 && offsetof(struct page, life_signs) == 780, "the launcher's page");

struct turns {
    struct page *page;
    const struct team *team;
    /* `ends`: value of the page's `ends` for this launch when all of its ranks on this host have ended the turn. */
    uint32_t place, launches, cases, ends;
    /* The next round, and the number of this launch's last turn. */
    uint32_t round, turn;
    bool leads_host;
    int file, stream;
    int64_t shown_ns, moved_ns, patience_ns;
    uint32_t moves;
    struct rest rest;
    /* CPU time of this rank for checks while it waited. */
    int64_t checks_ns;
    /* On the leading rank: when the first turn began, and the CPU time of launchers and daemons until then. */
    int64_t begun_ns, launchers_ns;
    /* Whether ranks create the page, and its name until it is removed. */
    bool makes_page;
    char name[LINE_BYTES];
};

/* --- the page --- */

/* The path of the page: the host's name replaces %. Returns false if it is too long. */
static bool name_page(const char *option, char path[LINE_BYTES]) {
    char host[HOST_BYTES] = "";
    const char *const mark = strchr(option, '%');
    gethostname(host, sizeof host - 1);
    const int before = (int)(mark ? mark - option : 0);
    return snprintf(path, LINE_BYTES, "%.*s%s%s", before, option, mark ? host : "", mark ? mark + 1 : option) < LINE_BYTES;
}

/* A page with the host's name is created by the first rank. */
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

static struct flock make_lock(uint32_t place) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place * MOST_LOCKS, .l_len = MOST_LOCKS};
}

/* Registers this rank as alive. The first rank of a launch on a host leads it there. */
static bool register_rank(struct turns *turns) {
    const uint32_t number = atomic_fetch_add(&turns->page->ranks[turns->place], 1);
    struct flock lock = make_lock(turns->place);
    lock.l_start += number % MOST_LOCKS;
    lock.l_len = 1;
    return (!turns->makes_page || fcntl(turns->file, F_SETLK, &lock) == 0) && number == 0;
}

struct turns *open_turns(const char *option, const struct team *team, FILE *stream, double patience_s, char error[LINE_BYTES]) {
    unsigned place, launches, cases;
    int length = 0;
    const bool read = sscanf(option, "%u/%u/%u:%n", &place, &launches, &cases, &length) == 3 && length > 0;
    if (!read || place >= launches || launches > MOST_LAUNCHES || cases < 1 || cases > INT16_MAX) {
        snprintf(error, LINE_BYTES, "--turns %.300s: not PLACE/LAUNCHES/CASES:FILE with up to %d launches", option,
                 MOST_LAUNCHES);
        return NULL;
    }
    char path[LINE_BYTES];
    const bool make = strchr(option + length, '%') != NULL;
    const bool fits = name_page(option + length, path);
    const int file = fits ? open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600) : -1;
    const char *why = strerror(fits ? errno : ENAMETOOLONG);
    struct page *page = file < 0 ? NULL : map_page(file, make, &why);
    struct turns *turns = page ? try_memory(sizeof *turns) : NULL;
    if (!turns) {
        snprintf(error, LINE_BYTES, "--turns %.300s: %s", option, why);
        if (file >= 0)
            close(file);
        return NULL;
    }
    *turns = (struct turns){.page = page, .place = place, .launches = launches, .cases = cases, .file = file, .makes_page = make};
    turns->team = team;
    turns->stream = stream ? fileno(stream) : -1;
    turns->patience_ns = (int64_t)(1e9 * PATIENCES * patience_s);
    turns->leads_host = register_rank(turns);
    if (turns->leads_host && make)
        strcpy(turns->name, path);
    return turns;
}

static void remove_name(struct turns *turns) {
    if (*turns->name)
        unlink(turns->name);
    *turns->name = '\0';
}

static bool have_all_arrived(const struct turns *turns) {
    for (uint32_t i = 0; i < turns->launches; i++)
        if (atomic_load(&turns->page->ranks[i]) == 0)
            return false;
    return true;
}

/* --- the order --- */

/* Williams (1949): the differences between neighbours in a row are all different, so that each ordered pair of
 * neighbours occurs once over the rows; for an odd number, over the rows and their reversals. */
static uint32_t find_place(uint32_t launches, uint32_t row, uint32_t position) {
    const bool backwards = row >= launches;
    const uint32_t i = backwards ? launches - 1 - position : position;
    const uint32_t first = i % 2 ? (i + 1) / 2 : launches - i / 2;
    return (first + row) % launches;
}

/* The first round belongs to no case. Consecutive visits of a case use consecutive rows, and so do consecutive cases. */
static uint32_t find_row(const struct turns *turns, uint32_t round) {
    const uint32_t rows = turns->launches % 2 ? 2 * turns->launches : turns->launches, number = round > 0 ? round - 1 : 0;
    return (number / turns->cases + number % turns->cases) % rows;
}

static uint32_t find_place_of_turn(const struct turns *turns, uint32_t turn) {
    return find_place(turns->launches, find_row(turns, turn / turns->launches), turn % turns->launches);
}

static uint32_t find_own_turn(const struct turns *turns, uint32_t round) {
    uint32_t turn = round * turns->launches;
    while (find_place_of_turn(turns, turn) != turns->place)
        turn++;
    return turn;
}

/* --- CPU time --- */

static int64_t read_cpu_ns(clockid_t of) {
    struct timespec used;
    clock_gettime(of, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* CPU time of this process while its own thread sleeps; falling asleep and waking up belong to the own turn, checks do
 * not. */
static int64_t read_busy_ns(const struct turns *turns) {
    return read_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - read_cpu_ns(CLOCK_THREAD_CPUTIME_ID) + turns->checks_ns;
}

/* CPU time of all live threads of a process. */
static int64_t read_process_cpu_ns(int process) {
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *tasks = opendir(path);
    int64_t all_ns = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", process, task->d_name);
        long long own_ns = 0;
        if (*task->d_name != '.')
            scan_file(path, "%lld", &own_ns);
        all_ns += own_ns;
    }
    if (tasks)
        closedir(tasks);
    return all_ns;
}

/* Returns the parent, or 0 if the process is no launcher or daemon but what started it: rankbench, a script, a shell or
 * the system. */
static int find_launcher(int process) {
    static const char *const others[] = {"python", "rankbench", "bash", "sh", "dash", "zsh", "sshd", "systemd", "init"};
    char path[LINE_BYTES], name[32] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    const bool known = scan_file(path, "%*d (%31[^)]) %*c %d", name, &parent) == 2;
    for (size_t i = 0; known && i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return 0;
    return known ? parent : 0;
}

/* CPU time of the launchers and daemons above this process. */
static int64_t read_launchers_cpu_ns(void) {
    int64_t all_ns = 0;
    int process = getppid();
    for (int i = 0, above; i < MOST_LAUNCHERS && process > 1 && (above = find_launcher(process)) > 0; i++) {
        all_ns += read_process_cpu_ns(process);
        process = above;
    }
    return all_ns;
}

/* --- sleeping and waking --- */

static uint32_t find_bit(uint32_t place) {
    return 1U << place % BITS;
}

static void wake_waiters(_Atomic uint32_t *word, uint32_t bits) {
    syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL, bits);
}

/* Shows that this launch is alive, as long as turns advance: in the launcher's page, or by the time of the stream. */
static void show_life(struct turns *turns) {
    const int64_t now_ns = read_steady_ns();
    const uint32_t moves = atomic_load(&turns->page->turn) + atomic_load(&turns->page->changes);
    if (moves != turns->moves || turns->moved_ns == 0) {
        turns->moves = moves;
        turns->moved_ns = now_ns;
    }
    const bool early = now_ns - turns->shown_ns < turns->patience_ns / PATIENCES / LIFE_SIGNS;
    if (turns->stream < 0 || early || now_ns - turns->moved_ns > turns->patience_ns)
        return;
    if (turns->makes_page)
        futimens(turns->stream, NULL);
    else
        atomic_fetch_add(&turns->page->life_signs[turns->place], 1);
    turns->shown_ns = now_ns;
}

/* Waits, with progress, until a counter of the page has a value. */
static void progress_until(const struct turns *turns, const _Atomic uint32_t *word, uint32_t wanted) {
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (int calls = 1; (int32_t)(atomic_load(word) - wanted) < 0; calls++) {
        give_progress(turns->team);
        if (calls > CALLS_AT_ONCE)
            nanosleep(&nap, NULL);
    }
}

/* Returns true if it slept for CHECK_NS, so that other launches must be checked. */
static bool sleep_while(struct turns *turns, _Atomic uint32_t *word, uint32_t value, uint32_t bits) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until); /* The kernel's clock for timeouts. */
    until.tv_nsec += CHECK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &until, NULL, bits) == 0 || errno != ETIMEDOUT)
        return false;
    const int64_t begun_ns = read_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    show_life(turns);
    give_progress(turns->team);
    turns->checks_ns += read_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
    return true;
}

/* Skips the turns of launches that have ended, and wakes the next one. A launch may be first in one round and last in
 * the next, so up to two rounds are skipped. */
static void skip_ended_launches(struct turns *turns) {
    struct page *page = turns->page;
    uint32_t now = atomic_load(&page->turn);
    for (uint32_t i = 0; i < 2 * turns->launches && atomic_load(&page->presence[find_place_of_turn(turns, now)]) == DONE; i++)
        if (atomic_compare_exchange_strong(&page->turn, &now, now + 1))
            now++;
    wake_waiters(&page->turn, find_bit(find_place_of_turn(turns, now)));
}

/* --- who is there --- */

/* Returns false if the presence is not `before` any more. */
static bool change_presence(struct turns *turns, uint32_t place, enum presence before, enum presence after) {
    uint32_t expected = before;
    if (!atomic_compare_exchange_strong(&turns->page->presence[place], &expected, after))
        return false;
    atomic_fetch_add(&turns->page->changes, 1);
    wake_waiters(&turns->page->changes, FUTEX_BITSET_MATCH_ANY);
    if (after == DONE)
        skip_ended_launches(turns);
    return true;
}

/* Marks another launch as ended if all of its processes on this host are gone. */
static void check_launch(struct turns *turns, uint32_t place) {
    struct flock lock = make_lock(place);
    const bool has_arrived = turns->makes_page && place != turns->place && atomic_load(&turns->page->presence[place]) == HERE;
    if (has_arrived && fcntl(turns->file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK)
        change_presence(turns, place, HERE, DONE);
}

/* Waits until the presence of every launch is at least `wanted`; launches that ended or were given up count. */
static bool wait_for_presence(struct turns *turns, enum presence wanted, int64_t until_ns) {
    give_progress(turns->team);
    for (uint32_t i = 0; i < turns->launches; i++)
        for (;;) {
            const uint32_t changes = atomic_load(&turns->page->changes);
            if (atomic_load(&turns->page->presence[i]) >= wanted)
                break;
            if (!sleep_while(turns, &turns->page->changes, changes, FUTEX_BITSET_MATCH_ANY))
                continue;
            check_launch(turns, i);
            if (read_steady_ns() > until_ns)
                return false;
        }
    return true;
}

/* Absent launches are given up on this host: they are refused if they arrive later. Returns whether another launch is
 * here. */
static bool give_up_absent_launches(struct turns *turns) {
    uint32_t known = 0;
    for (uint32_t i = 0; i < turns->launches; i++)
        if (!change_presence(turns, i, AWAY, DONE))
            known += i != turns->place;
    return known > 0;
}

bool arrive(struct turns *turns) {
    if (!turns)
        return true;
    if (turns->leads_host && !change_presence(turns, turns->place, AWAY, HERE))
        return false;
    if (!wait_for_presence(turns, HERE, read_steady_ns() + ARRIVAL_NS))
        return give_up_absent_launches(turns);
    if (have_all_arrived(turns)) /* Otherwise a later one must find the page, on which it was given up. */
        remove_name(turns);
    return atomic_load(&turns->page->presence[turns->place]) == HERE;
}

/* --- turns --- */

void await_turn(struct turns *turns) {
    if (!turns)
        return;
    show_life(turns);
    give_progress(turns->team); /* Ranks of other hosts may still be in the barrier of the last turn. */
    if (turns->leads_host && turns->begun_ns == 0) {
        turns->begun_ns = read_steady_ns();
        turns->launchers_ns = read_launchers_cpu_ns();
    }
    const struct rest begun = {read_steady_ns(), read_busy_ns(turns)};
    turns->turn = find_own_turn(turns, turns->round++);
    for (uint32_t now; (int32_t)((now = atomic_load(&turns->page->turn)) - turns->turn) < 0;) {
        if (sleep_while(turns, &turns->page->turn, now, find_bit(turns->place)))
            check_launch(turns, find_place_of_turn(turns, now));
        if (atomic_load(&turns->page->turn) == now) /* After a check, or when the launcher has marked one as ended. */
            skip_ended_launches(turns);
    }
    turns->rest.waited_ns += read_steady_ns() - begun.waited_ns;
    turns->rest.busy_ns += read_busy_ns(turns) - begun.busy_ns;
}

struct slot find_slot(const struct turns *turns) {
    if (!turns)
        return (struct slot){-1, -1};
    return (struct slot){(int)(turns->turn % turns->launches), (int)atomic_load(&turns->page->last) - 1};
}

struct rest measure_rest(const struct turns *turns) {
    struct rest rest = turns ? turns->rest : (struct rest){0};
    if (!turns || !turns->leads_host || turns->begun_ns == 0)
        return rest;
    const double waiting = (double)rest.waited_ns / (double)(read_steady_ns() - turns->begun_ns);
    rest.busy_ns += (int64_t)(waiting * (double)(read_launchers_cpu_ns() - turns->launchers_ns));
    return rest;
}

void pass_turn(struct turns *turns) {
    if (!turns || !turns->leads_host)
        return;
    atomic_fetch_add(&turns->page->turn, 1);
    skip_ended_launches(turns);
}

void end_turn(struct turns *turns) {
    if (!turns)
        return;
    struct page *page = turns->page;
    dissemination_barrier(turns->team);
    turns->ends += atomic_load(&page->ranks[turns->place]);
    atomic_fetch_add(&page->ends[turns->place], 1);
    if (turns->leads_host) {
        progress_until(turns, &page->ends[turns->place], turns->ends);
        atomic_store(&page->last, turns->place + 1);
    }
    switch_part(PART_WAIT); /* Who wakes another rank may lose its core to it at once. */
    pass_turn(turns);
    progress_until(turns, &page->turn, turns->turn + 1);
}

void leave_turns(struct turns *turns) {
    if (!turns)
        return;
    if (turns->leads_host)
        change_presence(turns, turns->place, HERE, DONE);
    wait_for_presence(turns, DONE, INT64_MAX);
    remove_name(turns);
    munmap(turns->page, sizeof *turns->page);
    close(turns->file);
    free(turns);
}
