/* Preloaded: makes one call of a rank with a job go wrong, as stated by its environment.
 *
 * FAULT           what happens, by the names of `faults` below
 * FAULT_CALL      in which call: MPI_Init, MPI_Finalize, MPI_Bcast or MPI_Allreduce
 * FAULT_BYTES     only in calls with so many bytes; FAULT_AFTER: not in the first so many of these; FAULT_UNTIL: nor after so many
 * FAULT_RANK      only on this rank, else on all
 * FAULT_ONCE      a file that is made by the first call that goes wrong; processes that find it at their first call do nothing
 *
 * MPI is reached by what is loaded next, so that a launcher that has no MPI can be preloaded too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

enum { JUMP_S = 3600, ROOM_BYTES = 1 << 20 };

static int64_t set_by_s;

/* What a fault may spoil, and what it returns is what the call returns in place of doing its work; GO_ON: it does it. */
enum { GO_ON = -1 };
struct struck {
    unsigned char *data;
    long bytes;
    /* What a call may only read. */
    unsigned char *sent;
};

static int raise_signal(int number) {
    signal(number, SIG_DFL);
    raise(number);
    return GO_ON;
}

static int segv(struct struck *call) {
    (void)call;
    return raise_signal(SIGSEGV);
}

static int abort_here(struct struck *call) {
    (void)call;
    abort();
}

static int terminate(struct struck *call) {
    (void)call;
    return raise_signal(SIGTERM);
}

static int killed(struct struck *call) {
    (void)call;
    return raise_signal(SIGKILL);
}

static int hang(struct struck *call) {
    (void)call;
    for (;;)
        pause();
    return GO_ON;
}

static int leave(struct struck *call) {
    (void)call;
    _exit(EXIT_SUCCESS);
}

static int refuse(struct struck *call) {
    (void)call;
    return MPI_ERR_OTHER;
}

/* The result is there before the byte is changed, so that the call itself is right. */
static int flip(struct struck *call) {
    call->data[call->bytes - 1] ^= 1;
    return GO_ON;
}

/* As a library does that sorts or adds up in the caller's memory. */
static int scribble(struct struck *call) {
    call->sent[call->bytes - 1] ^= 1;
    return GO_ON;
}

static long used_bytes(void) {
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmSize: %ld kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib * 1024;
}

static void limit(int resource, long most) {
    struct rlimit now;
    getrlimit(resource, &now);
    now.rlim_cur = (rlim_t)most;
    setrlimit(resource, &now);
}

/* Nothing of any size can be had from now on, as under `ulimit -v`. */
static int eat(struct struck *call) {
    (void)call;
    limit(RLIMIT_AS, used_bytes() + ROOM_BYTES);
    return GO_ON;
}

/* The file of the stream, which this rank has open; -1: it has none. */
static int stream_file(void) {
    char path[64], target[4096];
    for (int file = 3; file < 1024; file++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        const ssize_t length = readlink(path, target, sizeof target);
        if (length > 6 && memcmp(target + length - 6, ".jsonl", 6) == 0)
            return file;
    }
    return -1;
}

/* What is written to the stream from now on finds a full disk. */
static int fill_disk(struct struck *call) {
    (void)call;
    const int full = open("/dev/full", O_WRONLY);
    dup2(full, stream_file());
    return GO_ON;
}

/* Between two records of the stream. */
static int garbage(struct struck *call) {
    static const char text[] = "no record\n";
    (void)call;
    return write(stream_file(), text, sizeof text - 1) > 0 ? GO_ON : MPI_ERR_OTHER;
}

static int set_clock(struct struck *call) {
    (void)call;
    set_by_s = JUMP_S;
    return GO_ON;
}

static int set_clock_back(struct struck *call) {
    (void)call;
    set_by_s = -JUMP_S;
    return GO_ON;
}

/* As a library does that warns in every call. */
static int print(struct struck *call) {
    (void)call;
    fprintf(stderr, "WARNING: %-80s\n", "this call prints");
    return GO_ON;
}

/* It does nothing and says that it did. */
static int withhold(struct struck *call) {
    (void)call;
    return MPI_SUCCESS;
}

static const struct {
    const char *name;
    int (*happens)(struct struck *call);
    bool afterwards, each_time;
} faults[] = {
    {"segv", segv, false, false},
    {"abort", abort_here, false, false},
    {"terminate", terminate, false, false},
    {"kill", killed, false, false},
    {"hang", hang, false, true},
    {"leave", leave, false, false},
    {"refuse", refuse, false, true},
    {"withhold", withhold, false, true},
    {"print", print, false, true},
    {"flip", flip, true, true},
    {"scribble", scribble, true, false},
    {"eat", eat, false, false},
    {"fill-disk", fill_disk, false, false},
    {"garbage", garbage, false, false},
    {"clock-forward", set_clock, false, false},
    {"clock-back", set_clock_back, false, false},
};

/* --- when --- */

static bool is_unset_or(const char *name, long value) {
    return !getenv(name) || atol(getenv(name)) == value;
}

/* Whether this program has a job: the check before a campaign has none, and is left alone. */
static bool has_job(void) {
    char words[4096];
    FILE *file = fopen("/proc/self/cmdline", "r");
    const size_t length = file ? fread(words, 1, sizeof words, file) : 0;
    if (file)
        fclose(file);
    return memmem(words, length, "--job", 5) != NULL;
}

/* Whether an earlier launch had the fault already, or this one is not to have it. */
static bool is_over(void) {
    static int over = -1;
    if (over < 0)
        over = !has_job() || (getenv("FAULT_ONCE") && access(getenv("FAULT_ONCE"), F_OK) == 0);
    return over;
}

static void remember(void) {
    if (getenv("FAULT_ONCE"))
        close(open(getenv("FAULT_ONCE"), O_CREAT | O_WRONLY, 0644));
}

static bool is_due(const char *name, long bytes) {
    static long calls;
    const char *wanted = getenv("FAULT_CALL"), *after = getenv("FAULT_AFTER"), *until = getenv("FAULT_UNTIL");
    if (!wanted || strcmp(wanted, name) != 0 || is_over() || !is_unset_or("FAULT_BYTES", bytes) ||
        !is_unset_or("FAULT_RANK", rank_of_launch()))
        return false;
    return ++calls > (after ? atol(after) : 0) && (!until || calls <= atol(until));
}

static int strike(const char *name, struct struck call, bool afterwards) {
    static bool triggered;
    const char *fault = getenv("FAULT");
    for (size_t i = 0; fault && i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, fault) == 0 && faults[i].afterwards == afterwards && (faults[i].each_time || !triggered) &&
            is_due(name, call.bytes)) {
            triggered = true;
            remember();
            return faults[i].happens(&call);
        }
    return GO_ON;
}

/* --- calls --- */

/* What the call would reach were this not loaded, kept in `real`. */
#define REACH(call, name) \
    static __typeof__(&call) real; \
    if (!real) \
    real = (__typeof__(&call))dlsym(RTLD_NEXT, name)

static int size_of(MPI_Datatype type) {
    int size = 0;
    REACH(MPI_Type_size, "PMPI_Type_size");
    real(type, &size);
    return size;
}

int MPI_Init(int *argc, char ***argv) {
    REACH(MPI_Init, "PMPI_Init");
    const int code = strike("MPI_Init", (struct struck){.bytes = 0}, false);
    return code == GO_ON ? real(argc, argv) : code;
}

int MPI_Finalize(void) {
    REACH(MPI_Finalize, "PMPI_Finalize");
    const int code = strike("MPI_Finalize", (struct struck){.bytes = 0}, false);
    return code == GO_ON ? real() : code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    const struct struck struck = {.data = data, .bytes = (long)count * size_of(type)};
    REACH(MPI_Bcast, "PMPI_Bcast");
    int code = strike("MPI_Bcast", struck, false);
    code = code == GO_ON ? real(data, count, type, root, comm) : code;
    strike("MPI_Bcast", struck, true);
    return code;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    const struct struck struck = {into, (long)count * size_of(type), (void *)(uintptr_t)from};
    REACH(MPI_Allreduce, "PMPI_Allreduce");
    int code = strike("MPI_Allreduce", struck, false);
    code = code == GO_ON ? real(from, into, count, type, operation, comm) : code;
    strike("MPI_Allreduce", struck, true);
    return code;
}

/* --- the time of day, which can be set --- */

int clock_gettime(clockid_t clock, struct timespec *now) {
    REACH(clock_gettime, "clock_gettime");
    const int code = real(clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += set_by_s;
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    const int code = clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    return code;
}
