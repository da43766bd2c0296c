/* The state of this machine, measured without MPI beside a launch, to distinguish its effects from those of the library.
 * Pinned processes share a page:
 *
 *   exchange   two CPUs pass a cache line to and fro: the least time of a message between them
 *   copy       all CPUs copy at once, each in its own memory, which is larger than most private caches
 *
 * Medians over many short pieces are robust on machines that others use, too. Every wait is bounded. */
#define _GNU_SOURCE
#include "study/state.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers.h"
#include "base/scan.h"
#include "base/steady.h"

enum { TEXT_BYTES = 512, APART_BYTES = 128, MOST_CPUS = CPU_SETSIZE };
enum { MOST_CPUS_FOR_ALL_PAIRS = 8, FAR_PAIRS = 4, MOST_PAIRS = MOST_CPUS + FAR_PAIRS };
enum { LINES = 512, UNTIMED = 1, ROUND_TRIPS = 32, LEAST_BATCHES = 64, MOST_BATCHES = 16384 };
enum { SPINS_PER_NAP = 1 << 16, NAP_NS = 10000 };
enum { COPY_BYTES = 4 << 20, LEAST_COPIES = 3, MOST_COPIES = 1024 };

/* Time for all pairs together; least and most for one pair; and for copying. */
enum { EXCHANGES_NS = 48000000, SHORTEST_EXCHANGE_NS = 1000000, LONGEST_EXCHANGE_NS = 16000000, COPY_NS = 16000000 };
/* Longest wait for a pair whose processes do not get their CPUs, and for all pairs. */
enum { PATIENCE_NS = 200000000, MOST_PATIENCE_NS = 1000000000 };

struct cpus {
    int count;
    int number[MOST_CPUS];
};

struct exchange {
    int a, b;
    double median_ns, min_ns;
};

/* The shared page. No other data are in the pair of cache lines that CPUs fetch at once. */
struct page {
    struct {
        _Alignas(APART_BYTES) atomic_uint turn;
    } lines[LINES];
    _Alignas(APART_BYTES) atomic_int ready;
    _Alignas(APART_BYTES) struct exchange result;
    double bytes_per_s[MOST_CPUS];
};

/* Pins this process to a CPU; without that there is nothing to measure. */
static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        _exit(EXIT_FAILURE);
}

/* --- exchange -------------------------------------------------------------------------------------------------------- */

/* A partner that does not answer has no CPU now: sleeping lets both get one at the same time. */
static bool wait_for_turn(const atomic_uint *line, unsigned turn, int64_t until_ns) {
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (unsigned spins = 1; atomic_load_explicit(line, memory_order_acquire) != turn; spins++) {
        if (spins % SPINS_PER_NAP != 0)
            continue;
        if (read_steady_ns() > until_ns)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

/* Turns continue from line to line, so that no line shows an old one. */
static void answer_turns(struct page *page, int64_t until_ns) {
    unsigned turn = 1;
    for (int batch = 0;; batch++) {
        atomic_uint *const line = &page->lines[batch % LINES].turn;
        for (int i = -UNTIMED; i < ROUND_TRIPS; i++, turn += 2) {
            if (!wait_for_turn(line, turn, until_ns))
                return;
            atomic_store_explicit(line, turn + 1, memory_order_release);
        }
    }
}

static unsigned run_round_trip(atomic_uint *line, unsigned turn, int64_t until_ns) {
    atomic_store_explicit(line, turn, memory_order_release);
    if (!wait_for_turn(line, turn + 1, until_ns))
        _exit(EXIT_FAILURE);
    return turn + 2;
}

/* The time depends on the home of a line in the processor: on one machine 45 to 75 ns. Every batch uses another line,
 * so that the median is that of the pair, not of an address. Batches are short compared with time slices on a busy CPU,
 * so most are not interrupted. The untimed exchanges move the line from its earlier place. */
static void time_round_trips(struct page *page, int64_t enough_ns, int64_t until_ns) {
    static double batch_ns[MOST_BATCHES];
    unsigned turn = 1;
    int count = 0;
    for (int64_t after = 0; count < MOST_BATCHES && (after < enough_ns || count < LEAST_BATCHES); count++) {
        atomic_uint *const line = &page->lines[count % LINES].turn;
        for (int i = 0; i < UNTIMED; i++)
            turn = run_round_trip(line, turn, until_ns);
        const int64_t before = read_steady_ns();
        for (int i = 0; i < ROUND_TRIPS; i++)
            turn = run_round_trip(line, turn, until_ns);
        after = read_steady_ns();
        batch_ns[count] = (double)(after - before) / (2 * ROUND_TRIPS);
    }
    page->result.median_ns = find_median(batch_ns, count);
    page->result.min_ns = batch_ns[0];
}

static bool ended_well(pid_t child) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

static bool measure_pair(struct page *page, struct exchange *pair, int64_t length_ns, int64_t limit_ns) {
    const int64_t enough_ns = read_steady_ns() + length_ns, until_ns = min(enough_ns + PATIENCE_NS, limit_ns);
    for (int i = 0; i < LINES; i++)
        atomic_store(&page->lines[i].turn, 0);
    const pid_t answering = fork();
    if (answering == 0) {
        pin(pair->b);
        answer_turns(page, until_ns);
        _exit(EXIT_SUCCESS);
    }
    const pid_t asking = answering < 0 ? -1 : fork();
    if (asking == 0) {
        pin(pair->a);
        time_round_trips(page, enough_ns, until_ns);
        _exit(EXIT_SUCCESS);
    }
    const bool good = asking > 0 && ended_well(asking);
    if (answering > 0) {
        kill(answering, SIGKILL);
        ended_well(answering);
    }
    pair->median_ns = page->result.median_ns;
    pair->min_ns = page->result.min_ns;
    return good;
}

/* All pairs of a few CPUs; of many CPUs a ring, and some pairs half a ring apart. */
static int choose_pairs(const struct cpus *cpus, struct exchange *pairs) {
    const int n = cpus->count;
    int count = 0;
    if (n <= MOST_CPUS_FOR_ALL_PAIRS) {
        for (int a = 0; a < n; a++)
            for (int b = a + 1; b < n; b++)
                pairs[count++] = (struct exchange){.a = cpus->number[a], .b = cpus->number[b]};
        return count;
    }
    for (int a = 0; a < n; a++)
        pairs[count++] = (struct exchange){.a = cpus->number[a], .b = cpus->number[(a + 1) % n]};
    for (int far = 0; far < FAR_PAIRS; far++) {
        const int a = far * (n / 2) / FAR_PAIRS;
        pairs[count++] = (struct exchange){.a = cpus->number[a], .b = cpus->number[a + n / 2]};
    }
    return count;
}

/* Pairs whose processes do not get their CPUs in time are omitted. */
static int measure_exchange(struct page *page, const struct cpus *cpus, struct exchange *pairs) {
    const int chosen = choose_pairs(cpus, pairs);
    const int64_t limit_ns = read_steady_ns() + EXCHANGES_NS + MOST_PATIENCE_NS;
    const int64_t length_ns = clamp(EXCHANGES_NS / fmax(1, chosen), SHORTEST_EXCHANGE_NS, LONGEST_EXCHANGE_NS);
    int measured = 0;
    for (int i = 0; i < chosen; i++)
        if (measure_pair(page, &pairs[i], length_ns, limit_ns))
            pairs[measured++] = pairs[i];
    return measured;
}

/* --- copy ------------------------------------------------------------------------------------------------------------ */

static void time_copies(struct page *page, int place, int workers, int64_t until_ns) {
    double copy_ns[MOST_COPIES];
    int count = 0;
    char *from = mmap(NULL, 2 * COPY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (from == MAP_FAILED)
        _exit(EXIT_FAILURE);
    memset(from, 1, 2 * COPY_BYTES);
    atomic_fetch_add(&page->ready, 1);
    while (atomic_load(&page->ready) < workers && read_steady_ns() < until_ns)
        sched_yield();
    const int64_t enough_ns = read_steady_ns() + COPY_NS;
    for (int64_t before = read_steady_ns(); count < MOST_COPIES && (before < enough_ns || count < LEAST_COPIES); count++) {
        memcpy(from + COPY_BYTES, from, COPY_BYTES);
        const int64_t after = read_steady_ns();
        copy_ns[count] = (double)(after - before);
        before = after;
    }
    page->bytes_per_s[place] = 2e9 * COPY_BYTES / find_median(copy_ns, count);
}

/* Bytes per second read and written by all CPUs together; 0 if some CPU could not take part. */
static double measure_copy(struct page *page, const struct cpus *cpus) {
    const int64_t until_ns = read_steady_ns() + PATIENCE_NS;
    pid_t children[MOST_CPUS];
    bool good = true;
    double sum = 0;
    atomic_store(&page->ready, 0);
    for (int i = 0; i < cpus->count; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            pin(cpus->number[i]);
            time_copies(page, i, cpus->count, until_ns);
            _exit(EXIT_SUCCESS);
        }
    }
    for (int i = 0; i < cpus->count; i++) {
        good &= children[i] > 0 && ended_well(children[i]);
        sum += page->bytes_per_s[i];
    }
    return good ? sum : 0;
}

/* --- what the kernel shows ------------------------------------------------------------------------------------------- */

static double read_number(const char *path) {
    double number = 0;
    scan_file(path, "%lf", &number);
    return number;
}

static double read_stolen_s(const struct cpus *cpus) {
    char line[TEXT_BYTES];
    double ticks = 0;
    FILE *file = fopen("/proc/stat", "r");
    while (file && fgets(line, sizeof line, file)) {
        int cpu;
        long long stolen;
        if (sscanf(line, "cpu%d %*d %*d %*d %*d %*d %*d %*d %lld", &cpu, &stolen) == 2)
            for (int i = 0; i < cpus->count; i++)
                ticks += cpus->number[i] == cpu ? (double)stolen : 0;
    }
    if (file)
        fclose(file);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

/* From /proc/cpuinfo, which not every processor supports. */
static double read_listed_frequency_hz(int wanted) {
    char line[TEXT_BYTES];
    int cpu = -1;
    double mhz = 0, listed_mhz = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && listed_mhz <= 0 && fgets(line, sizeof line, file)) {
        if (sscanf(line, "processor : %d", &cpu) != 1 && sscanf(line, "cpu MHz : %lf", &mhz) == 1 && cpu == wanted)
            listed_mhz = mhz;
    }
    if (file)
        fclose(file);
    return listed_mhz * 1e6;
}

static double read_frequency_hz(int cpu) {
    char path[TEXT_BYTES];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
    const double khz = read_number(path);
    return khz > 0 ? khz * 1e3 : read_listed_frequency_hz(cpu);
}

/* Runnable processes and threads, without this one. */
static int read_running(void) {
    int running = 1;
    scan_file("/proc/loadavg", "%*f %*f %*f %d", &running);
    return running - 1;
}

/* --- which CPUs, and what is printed --------------------------------------------------------------------------------- */

/* Reads a list such as `0,2-5`. */
static bool read_list(const char *list, cpu_set_t *set) {
    CPU_ZERO(set);
    for (const char *at = list;; at++) {
        char *end;
        const long first = strtol(at, &end, 10);
        long last = first;
        if (end == at)
            return false;
        at = end;
        if (*at == '-')
            last = strtol(at + 1, &end, 10);
        if (end == at + 1 || first < 0 || last < first || last >= MOST_CPUS)
            return false;
        at = end;
        for (long cpu = first; cpu <= last; cpu++)
            CPU_SET((size_t)cpu, set);
        if (*at != ',')
            return *at == '\0';
    }
}

static bool choose_cpus(struct cpus *cpus, const char *list, char *error, size_t error_bytes) {
    cpu_set_t allowed, wanted;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        snprintf(error, error_bytes, "--state: the CPUs of this process are not known: %s", strerror(errno));
        return false;
    }
    wanted = allowed;
    if (list && !read_list(list, &wanted)) {
        snprintf(error, error_bytes, "--cpus '%.100s' is no list of CPUs such as 0,2-5", list);
        return false;
    }
    for (int cpu = 0; cpu < MOST_CPUS; cpu++) {
        if (CPU_ISSET((size_t)cpu, &wanted) && !CPU_ISSET((size_t)cpu, &allowed)) {
            snprintf(error, error_bytes, "--cpus '%.100s': this process may not run on CPU %d", list, cpu);
            return false;
        }
        if (CPU_ISSET((size_t)cpu, &wanted))
            cpus->number[cpus->count++] = cpu;
    }
    return true;
}

static void print_exchange(FILE *out, const struct exchange *pairs, int count) {
    fputs(",\"exchange\":[", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s{\"cpus\":[%d,%d],\"median_ns\":%.2f,\"min_ns\":%.2f}", i ? "," : "", pairs[i].a, pairs[i].b,
                pairs[i].median_ns, pairs[i].min_ns);
    fputc(']', out);
}

/* Unknown values are null; no measured value is 0. */
static void print_known(FILE *out, double value) {
    if (value > 0)
        fprintf(out, "%.0f", value);
    else
        fputs("null", out);
}

static void print_frequency(FILE *out, const struct cpus *cpus) {
    fputs(",\"frequency_hz\":[", out);
    for (int i = 0; i < cpus->count; i++) {
        if (i > 0)
            fputc(',', out);
        print_known(out, read_frequency_hz(cpus->number[i]));
    }
    fputc(']', out);
}

static void print_cpus(FILE *out, const struct cpus *cpus) {
    fputs("{\"cpus\":[", out);
    for (int i = 0; i < cpus->count; i++)
        fprintf(out, "%s%d", i ? "," : "", cpus->number[i]);
    fputc(']', out);
}

/* Load is read before the measurements add to it, and frequencies just after CPUs had work: idle ones are slow. */
static void measure(FILE *out, const struct cpus *cpus, struct page *page) {
    static struct exchange pairs[MOST_PAIRS];
    const double load = read_number("/proc/loadavg"), stolen_s = read_stolen_s(cpus);
    const int running = read_running();
    print_cpus(out, cpus);
    print_exchange(out, pairs, measure_exchange(page, cpus, pairs));
    fputs(",\"copy_bytes_per_s\":", out);
    print_known(out, measure_copy(page, cpus));
    print_frequency(out, cpus);
    fprintf(out, ",\"stolen_s\":%.2f,\"load\":%.2f,\"running\":%d}\n", stolen_s, load, running);
}

bool print_state(FILE *out, const char *cpus, char *error, size_t error_bytes) {
    struct cpus chosen = {0};
    if (!choose_cpus(&chosen, cpus, error, error_bytes))
        return false;
    struct page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        snprintf(error, error_bytes, "--state: the system gave no shared memory: %s", strerror(errno));
        return false;
    }
    measure(out, &chosen, page);
    munmap(page, sizeof *page);
    return true;
}
