/* Preloaded: makes one call of a rank with a job fail, as its environment says.
 *
 * FAULT           the fault, a name of `faults` below
 * FAULT_CALL      the call: MPI_Init, MPI_Finalize, MPI_Bcast, MPI_Allreduce, MPI_Iallreduce,
 *                 MPI_Send, MPI_Isend, MPI_Put or MPI_Get
 * FAULT_BYTES     only calls with this number of bytes
 * FAULT_AFTER     not the first calls of this number; FAULT_UNTIL: none after this number
 * FAULT_RANK      only this rank; default: all
 * FAULT_ONCE      a file created by the first fault; processes that find it at their first call do nothing
 *
 * MPI is called through the next library, so that a launcher without MPI can be preloaded, too. */
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
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

enum { JUMP_S = 3600, ROOM_BYTES = 1 << 20 };

static int64_t set_by_s;

/* Data that a fault may change. A fault returns the code of the call, which then does nothing, or GO_ON. */
enum { GO_ON = -1 };
struct target {
    unsigned char *data;
    long bytes;
    /* Data that a call may only read. */
    unsigned char *sent;
};

static int raise_signal(int number) {
    signal(number, SIG_DFL);
    raise(number);
    return GO_ON;
}

static int segv(struct target *call) {
    (void)call;
    return raise_signal(SIGSEGV);
}

static int abort_here(struct target *call) {
    (void)call;
    abort();
}

static int terminate(struct target *call) {
    (void)call;
    return raise_signal(SIGTERM);
}

static int kill_self(struct target *call) {
    (void)call;
    return raise_signal(SIGKILL);
}

static int hang(struct target *call) {
    (void)call;
    for (;;)
        pause();
    return GO_ON;
}

/* The descriptor of the stream on this rank; -1: none. */
static int find_stream(void) {
    char path[64], target[4096];
    for (int file = 3; file < 1024; file++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        const ssize_t length = readlink(path, target, sizeof target);
        if (length > 6 && memcmp(target + length - 6, ".jsonl", 6) == 0)
            return file;
    }
    return -1;
}

/* Like a library that uses SIGALRM for itself. */
static int ignore_alarms(struct target *call) {
    signal(SIGALRM, SIG_IGN);
    return hang(call);
}

static bool is_socket(int file) {
    struct stat now;
    return fstat(file, &now) == 0 && S_ISSOCK(now.st_mode);
}

/* Like a library that closes all files before it starts a process, in the wrong one. The next file that it opens has the
 * descriptor of another one. Without its sockets the launcher would end the rank. */
static int close_files(struct target *call) {
    const int stream = find_stream();
    (void)call;
    for (int file = 3; file < 1024; file++)
        if (!is_socket(file))
            close(file);
    while (stream >= 0 && open("/dev/null", O_WRONLY) < stream)
        continue;
    return GO_ON;
}

static int exit_early(struct target *call) {
    (void)call;
    _exit(EXIT_SUCCESS);
}

static int refuse(struct target *call) {
    (void)call;
    return MPI_ERR_OTHER;
}

/* The byte is changed after the call, which itself is right. */
static int flip(struct target *call) {
    call->data[call->bytes - 1] ^= 1;
    return GO_ON;
}

/* Like a library that sorts or adds in the caller's memory. */
static int overwrite_sent(struct target *call) {
    call->sent[call->bytes - 1] ^= 1;
    return GO_ON;
}

static long read_used_bytes(void) {
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

/* No memory can be allocated from now on, as under `ulimit -v`. */
static int use_up_memory(struct target *call) {
    (void)call;
    limit(RLIMIT_AS, read_used_bytes() + ROOM_BYTES);
    return GO_ON;
}

/* Writing to the stream fails from now on: no file may be larger than it is. */
static int fill_disk(struct target *call) {
    struct stat now;
    (void)call;
    if (fstat(find_stream(), &now) == 0) {
        const struct rlimit limit = {(rlim_t)now.st_size, RLIM_INFINITY};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    return GO_ON;
}

/* Between two records of the stream. */
static int write_garbage(struct target *call) {
    static const char text[] = "no record\n";
    (void)call;
    return write(find_stream(), text, sizeof text - 1) > 0 ? GO_ON : MPI_ERR_OTHER;
}

static int set_clock(struct target *call) {
    (void)call;
    set_by_s = JUMP_S;
    return GO_ON;
}

static int set_clock_back(struct target *call) {
    (void)call;
    set_by_s = -JUMP_S;
    return GO_ON;
}

/* Like a library that prints a warning in every call. */
static int print(struct target *call) {
    (void)call;
    fprintf(stderr, "WARNING: %-80s\n", "this call prints");
    return GO_ON;
}

/* Like a library that sets up connections when they are first used. The data are right. */
static int take_long(struct target *call) {
    const struct timespec nap = {.tv_sec = 1, .tv_nsec = 100000000};
    (void)call;
    nanosleep(&nap, NULL);
    return GO_ON;
}

/* The call does nothing and returns success. */
static int withhold(struct target *call) {
    (void)call;
    return MPI_SUCCESS;
}

static const struct {
    const char *name;
    int (*apply)(struct target *call);
    bool afterwards, each_time;
} faults[] = {
    {"segv", segv, false, false},
    {"abort", abort_here, false, false},
    {"terminate", terminate, false, false},
    {"kill", kill_self, false, false},
    {"hang", hang, false, true},
    {"leave", exit_early, false, false},
    {"ignore-alarms", ignore_alarms, false, true},
    {"close-files", close_files, false, false},
    {"refuse", refuse, false, true},
    {"take-long", take_long, false, false},
    {"withhold", withhold, false, true},
    {"print", print, false, true},
    {"flip", flip, true, true},
    {"scribble", overwrite_sent, true, false},
    {"eat", use_up_memory, false, false},
    {"fill-disk", fill_disk, false, false},
    {"garbage", write_garbage, false, false},
    {"clock-forward", set_clock, false, false},
    {"clock-back", set_clock_back, false, false},
};

/* --- when --- */

static bool is_unset_or(const char *name, long value) {
    return !getenv(name) || atol(getenv(name)) == value;
}

/* Whether this program has a job: the check before a campaign has none and gets no faults. */
static bool has_job(void) {
    char words[4096];
    FILE *file = fopen("/proc/self/cmdline", "r");
    const size_t length = file ? fread(words, 1, sizeof words, file) : 0;
    if (file)
        fclose(file);
    return memmem(words, length, "--job", 5) != NULL;
}

/* Whether an earlier launch had the fault, or this launch gets none. */
static bool is_over(void) {
    static int over = -1;
    if (over < 0)
        over = !has_job() || (getenv("FAULT_ONCE") && access(getenv("FAULT_ONCE"), F_OK) == 0);
    return over;
}

static void mark_once(void) {
    if (getenv("FAULT_ONCE"))
        close(open(getenv("FAULT_ONCE"), O_CREAT | O_WRONLY, 0644));
}

static bool is_due(const char *name, long bytes) {
    static long calls;
    const char *wanted = getenv("FAULT_CALL"), *after = getenv("FAULT_AFTER"), *until = getenv("FAULT_UNTIL");
    if (!wanted || strcmp(wanted, name) != 0 || is_over() || !is_unset_or("FAULT_BYTES", bytes) ||
        !is_unset_or("FAULT_RANK", read_launch_rank()))
        return false;
    return ++calls > (after ? atol(after) : 0) && (!until || calls <= atol(until));
}

static int apply_fault(const char *name, struct target call, bool afterwards) {
    static bool triggered;
    const char *fault = getenv("FAULT");
    for (size_t i = 0; fault && i < sizeof faults / sizeof *faults; i++)
        if (strcmp(faults[i].name, fault) == 0 && faults[i].afterwards == afterwards && (faults[i].each_time || !triggered) &&
            is_due(name, call.bytes)) {
            triggered = true;
            mark_once();
            return faults[i].apply(&call);
        }
    return GO_ON;
}

/* --- calls --- */

/* `real`: the function that is called without this library. */
#define FIND_REAL(call, name) \
    static __typeof__(&call) real; \
    if (!real) \
    real = (__typeof__(&call))dlsym(RTLD_NEXT, name)

static int find_size(MPI_Datatype type) {
    int size = 0;
    FIND_REAL(MPI_Type_size, "PMPI_Type_size");
    real(type, &size);
    return size;
}

int MPI_Init(int *argc, char ***argv) {
    FIND_REAL(MPI_Init, "PMPI_Init");
    const int code = apply_fault("MPI_Init", (struct target){.bytes = 0}, false);
    return code == GO_ON ? real(argc, argv) : code;
}

int MPI_Finalize(void) {
    FIND_REAL(MPI_Finalize, "PMPI_Finalize");
    const int code = apply_fault("MPI_Finalize", (struct target){.bytes = 0}, false);
    return code == GO_ON ? real() : code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    const struct target target = {.data = data, .bytes = (long)count * find_size(type)};
    FIND_REAL(MPI_Bcast, "PMPI_Bcast");
    int code = apply_fault("MPI_Bcast", target, false);
    code = code == GO_ON ? real(data, count, type, root, comm) : code;
    apply_fault("MPI_Bcast", target, true);
    return code;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    const struct target target = {into, (long)count * find_size(type), (void *)(uintptr_t)from};
    FIND_REAL(MPI_Allreduce, "PMPI_Allreduce");
    int code = apply_fault("MPI_Allreduce", target, false);
    code = code == GO_ON ? real(from, into, count, type, operation, comm) : code;
    apply_fault("MPI_Allreduce", target, true);
    return code;
}

int MPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                   MPI_Request *request) {
    FIND_REAL(MPI_Iallreduce, "PMPI_Iallreduce");
    const int code = apply_fault("MPI_Iallreduce", (struct target){.bytes = (long)count * find_size(type)}, false);
    return code == GO_ON ? real(from, into, count, type, operation, comm, request) : code;
}

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    FIND_REAL(MPI_Send, "PMPI_Send");
    const int code = apply_fault("MPI_Send", (struct target){.bytes = (long)count * find_size(type)}, false);
    return code == GO_ON ? real(data, count, type, to, tag, comm) : code;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    FIND_REAL(MPI_Isend, "PMPI_Isend");
    const int code = apply_fault("MPI_Isend", (struct target){.bytes = (long)count * find_size(type)}, false);
    return code == GO_ON ? real(data, count, type, to, tag, comm, request) : code;
}

int MPI_Put(const void *data, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype into, MPI_Win win) {
    FIND_REAL(MPI_Put, "PMPI_Put");
    const int code = apply_fault("MPI_Put", (struct target){.bytes = (long)count * find_size(type)}, false);
    return code == GO_ON ? real(data, count, type, rank, at, there, into, win) : code;
}

int MPI_Get(void *data, int count, MPI_Datatype type, int rank, MPI_Aint at, int there, MPI_Datatype from, MPI_Win win) {
    FIND_REAL(MPI_Get, "PMPI_Get");
    const int code = apply_fault("MPI_Get", (struct target){.bytes = (long)count * find_size(type)}, false);
    return code == GO_ON ? real(data, count, type, rank, at, there, from, win) : code;
}

/* --- the time of day, which can be set --- */

int clock_gettime(clockid_t clock, struct timespec *now) {
    FIND_REAL(clock_gettime, "clock_gettime");
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
