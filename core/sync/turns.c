/* A machine's state changes within seconds, often by more than libraries differ. What two launches measured one after the other then
 * says more about the machine than about them; what they measured within the same milliseconds, in turn, does not.
 *
 * Turns are numbered, and each round of them has one for every launch; the turns of one that has ended are passed over. Since what ran
 * just before may matter, the order differs from round to round: over the visits of a case it goes through the rows of a Williams square
 * (1949), in which each launch has each place, and follows each other one, equally often.
 *
 * Each host has a page of its own, a file that all launches map there: since all hosts go through the same order, and a
 * launch passes its turn on when all of its ranks have ended theirs, hosts need not exchange anything. On each host one rank
 * speaks for its launch.
 *
 * A page of one host only is the launcher's, who marks launches whose processes are gone and wakes those who wait. Else no launcher
 * sees all pages: ranks make them, and locks that go with their processes show who lives.
 *
 * Those who wait are asleep in the kernel, and only those whose turn it is are woken: one that looked every now and then would take
 * from the launch that measures. But MPI promises progress inside its calls only: a library may keep a message that it was given until
 * its rank calls it again. So ranks that have ended their turn call it until all of their host have left the barrier, and then at
 * every look. */
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
#include "base/steady.h"
#include "base/tree.h"

/* How often those who wait look whether a launch has ended unseen, how often they say that they live, and how long a launch may take to
 * come when another is there already. */
enum { CHECK_NS = 200000000 };
/* Between two calls of a library that may have something left to send, after so many without any pause. */
enum { NAP_NS = 200000, CALLS_AT_ONCE = 100 };
#define ARRIVAL_NS INT64_C(60000000000)
/* How often those who wait say that they live, as a share of their patience: each time is a change of a file that others may keep. */
#define LIFE_SIGNS 8
enum { MOST_LAUNCHERS = 8 };
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
    /* The place, and 1, of the launch that was the last to end a turn. */
    _Atomic uint32_t last;
    /* Of each launch, how often ranks have left the barrier that ends a turn. */
    _Atomic uint32_t ends[MOST_LAUNCHES];
    /* Of each launch, a number that changes while it waits and lives. */
    _Atomic uint32_t life_signs[MOST_LAUNCHES];
};
/* As launch/turns.py has it. */
_Static_assert(offsetof(struct page, changes) == 260 && offsetof(struct page, life_signs) == 780, "the launcher's page");

struct turns {
    struct page *page;
    const struct team *team;
    /* `ends`: of this launch, once all of its ranks on this host have ended the turn. */
    uint32_t place, launches, cases, ends;
    /* The next round, and the number of the own turn that was the last to begin. */
    uint32_t round, turn;
    bool leads_host;
    int file, stream;
    int64_t shown_ns, moved_ns, patience_ns;
    uint32_t moves;
    struct rest rest;
    /* CPU time of this rank for its looks while it waited. */
    int64_t checks_ns;
    /* Of the rank that speaks: when the first turn began, and what CPU time launchers and daemons above it had used by then. */
    int64_t begun_ns, launchers_ns;
    /* Whether ranks have made the page, and its name until it needs none any more. */
    bool makes_page;
    char name[LINE_BYTES];
};

/* --- the page --- */

/* The path, in which the host's name stands in place of %. */
static void name_page(const char *option, char path[LINE_BYTES]) {
    char host[HOST_BYTES] = "";
    const char *const mark = strchr(option, '%');
    gethostname(host, sizeof host - 1);
    if (mark)
        snprintf(path, LINE_BYTES, "%.*s%s%s", (int)(mark - option), option, host, mark + 1);
    else
        snprintf(path, LINE_BYTES, "%s", option);
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

static struct flock make_lock(uint32_t place) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place * MOST_LOCKS, .l_len = MOST_LOCKS};
}

/* Reports that this rank lives. The first rank of a launch on a host speaks for it there. */
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
        snprintf(error, LINE_BYTES, "--turns %.300s: not PLACE/LAUNCHES/CASES:FILE, of up to %d launches", option, MOST_LAUNCHES);
        return NULL;
    }
    char path[LINE_BYTES];
    const bool make = strchr(option + length, '%') != NULL;
    name_page(option + length, path);
    const int file = open(path, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
    const char *why = strerror(errno);
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

static bool all_have_come(const struct turns *turns) {
    for (uint32_t i = 0; i < turns->launches; i++)
        if (atomic_load(&turns->page->ranks[i]) == 0)
            return false;
    return true;
}

/* --- the order --- */

/* Williams (1949): neighbours differ by another number everywhere, so that the rows which begin with each of the numbers have each pair
 * of neighbours once; of an odd number, only with the rows that go backwards. */
static uint32_t find_place(uint32_t launches, uint32_t row, uint32_t position) {
    const bool backwards = row >= launches;
    const uint32_t i = backwards ? launches - 1 - position : position;
    const uint32_t first = i % 2 ? (i + 1) / 2 : launches - i / 2;
    return (first + row) % launches;
}

/* The first round is not of cases. Each visit of a case has the row after that of the visit before it, and so has the next case. */
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

/* What this process uses while its own thread sleeps: to fall asleep and to wake up is part of the own turn, looks are not. */
static int64_t read_busy_ns(const struct turns *turns) {
    return read_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - read_cpu_ns(CLOCK_THREAD_CPUTIME_ID) + turns->checks_ns;
}

/* Of all threads of a process that live. */
static int64_t read_process_cpu_ns(int process) {
    char path[LINE_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task", process);
    DIR *tasks = opendir(path);
    int64_t all_ns = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/schedstat", process, task->d_name);
        FILE *file = *task->d_name == '.' ? NULL : fopen(path, "r");
        long long own_ns = 0;
        if (file && fscanf(file, "%lld", &own_ns) == 1)
            all_ns += own_ns;
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return all_ns;
}

/* Returns 0 for what is no launcher or daemon of one, but what started it: rankbench, a script, a shell or the system. */
static int find_launcher(int process) {
    static const char *const others[] = {"python", "rankbench", "bash", "sh", "dash", "zsh", "sshd", "systemd", "init"};
    char path[LINE_BYTES], name[32] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    const bool known = file && fscanf(file, "%*d (%31[^)]) %*c %d", name, &parent) == 2;
    if (file)
        fclose(file);
    for (size_t i = 0; known && i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return 0;
    return known ? parent : 0;
}

/* Of the processes above this one that started it. */
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

/* Says that it lives, as long as the launches get on: in the launcher's page, or by the stream, whose change others see. */
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

/* Lets the library send what it has kept. */
static void let_progress(const struct turns *turns) {
    int arrived;
    abort_on_error(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, turns->team->comm, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

/* Waits until a number of the page is at least as high. */
static void progress_until(const struct turns *turns, const _Atomic uint32_t *word, uint32_t wanted) {
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (int calls = 1; (int32_t)(atomic_load(word) - wanted) < 0; calls++) {
        let_progress(turns);
        if (calls > CALLS_AT_ONCE)
            nanosleep(&nap, NULL);
    }
}

/* Returns whether it slept long enough to look after the others. */
static bool sleep_while(struct turns *turns, _Atomic uint32_t *word, uint32_t value, uint32_t bits) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until); /* By which the kernel counts. */
    until.tv_nsec += CHECK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &until, NULL, bits) == 0 || errno != ETIMEDOUT)
        return false;
    const int64_t begun_ns = read_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    show_life(turns);
    let_progress(turns);
    turns->checks_ns += read_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
    return true;
}

/* Passes the turns of launches that have ended over, and wakes the one whose turn it then is. Who is first in a round and last in the
 * next one has the turns of two rounds between. */
static void skip_ended_launches(struct turns *turns) {
    struct page *page = turns->page;
    uint32_t now = atomic_load(&page->turn);
    for (uint32_t i = 0; i < 2 * turns->launches && atomic_load(&page->presence[find_place_of_turn(turns, now)]) == DONE; i++)
        if (atomic_compare_exchange_strong(&page->turn, &now, now + 1))
            now++;
    wake_waiters(&page->turn, find_bit(find_place_of_turn(turns, now)));
}

/* --- who is there --- */

/* Returns false if it is something else meanwhile. */
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

/* Notices that all of another launch's processes on this host are gone. */
static void check_launch(struct turns *turns, uint32_t place) {
    struct flock lock = make_lock(place);
    const bool has_arrived = turns->makes_page && place != turns->place && atomic_load(&turns->page->presence[place]) == HERE;
    if (has_arrived && fcntl(turns->file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK)
        change_presence(turns, place, HERE, DONE);
}

/* Waits until every launch is at least as far, those that are gone or given up included. */
static bool wait_for_presence(struct turns *turns, enum presence wanted, int64_t until_ns) {
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

/* Whoever comes later than that finds itself given up on this host, whose turns go on without it. */
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
    if (all_have_come(turns)) /* Else one that comes yet must find the page on which it was given up. */
        remove_name(turns);
    return atomic_load(&turns->page->presence[turns->place]) == HERE;
}

/* --- turns --- */

void await_turn(struct turns *turns) {
    if (!turns)
        return;
    show_life(turns);
    if (turns->leads_host && turns->begun_ns == 0) {
        turns->begun_ns = read_steady_ns();
        turns->launchers_ns = read_launchers_cpu_ns();
    }
    const struct rest begun = {read_steady_ns(), read_busy_ns(turns)};
    turns->turn = find_own_turn(turns, turns->round++);
    for (uint32_t now; (int32_t)((now = atomic_load(&turns->page->turn)) - turns->turn) < 0;) {
        if (sleep_while(turns, &turns->page->turn, now, find_bit(turns->place)))
            check_launch(turns, find_place_of_turn(turns, now));
        if (atomic_load(&turns->page->turn) == now) /* A look, or the launcher has marked one that ended. */
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
