/* What the files of the recorder share: the file that a rank fills while it runs, and what is known of a call.
 *
 * The tables live in a file that is mapped into memory, one for each rank, RANKBENCH_RECORD/rank-R-PID.calls. So that a
 * rank that ends by a signal, `_exit` or MPI_Abort leaves what was recorded up to then, and nothing is written at the
 * end. `src/rankbench/campaign/rank_files.py` reads it; both must agree on the layout.
 *
 *     struct header (4 KiB) | kinds of calls (6.3 MiB) | arrivals at collectives (5 MiB) | ends of messages (7 MiB)
 *
 * With the tables of requests, channels, communicators and types a rank needs at most 22 MiB. What does not fit is
 * counted. */
#pragma once
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LAYOUT = 5,
    LINE = 64,
    HEADER_BYTES = 4096,
    KINDS = 4096,
    ARRIVALS = 131072,
    MESSAGES = 131072,
    PARTNERS = 8,
    BINS_PER_OCTAVE = 8,
    BINS = 40 * BINS_PER_OCTAVE,
    NAME_BYTES = 32,
    MEMORIES = 4,
    SEVERAL = 2, /* threads that called; 1: there could be several */
    NO_ROOT = -1,
    NOBODY = -1, /* the distance to MPI_PROC_NULL and to MPI_ANY_SOURCE, whose numbers differ between libraries */
    ANYBODY = -2,
    NO_PEER = INT32_MIN
};
#define ANY_SIZE UINT64_MAX
#define SELDOM __attribute__((noinline, cold)) /* kept away from what every call runs: its code is not in the caches, either */
#define ROOT (1u << 31)                        /* with the number of a kind: the rank was root */
#define SENT (1u << 31)                        /* with the number of a kind: the end that sends */

/* What every call uses comes first, in one line of the caches; so it does in a kind of calls. */
struct header {
    char magic[8];
    uint32_t layout, kinds, level, message_level;
    uint64_t outside, last_ticks; /* ticks not in MPI, since MPI_Init; at the last call, or at the begin of MPI_Finalize */
    uint64_t arrivals, messages, lost_messages;
    uint64_t first_ticks;      /* at the end of MPI_Init */
    int64_t first_ns, last_ns; /* CLOCK_MONOTONIC at a moment close to each; last_ns 0: the rank was killed */
    double ticks_per_ns;       /* known at the begin; the two pairs above are better where there are both */
    uint64_t merged_kinds, lost_requests, lost_communicators;
    int64_t first_offset_ns, last_offset_ns; /* to be added to this rank's CLOCK_MONOTONIC for that of rank 0 */
    int64_t offset_bound_ns;                 /* half of the shortest exchange; 0: all ranks share a clock */
    uint32_t rank, ranks, pid, finalised, threads, unused;
    uint64_t ended_ticks;
    uint64_t later_ticks; /* a pair of readings now and then, for a rank that is killed */
    int64_t later_ns;
    char library[1024], version[256], host[256];
};

struct partner {
    int32_t distance, unused;
    uint64_t calls;
};

/* What a type is made of. In a reduction the time depends on it. */
enum content { BYTES, GAPS, FLOATS, DOUBLES, INTEGERS };

struct features {
    uint64_t bytes;
    int32_t call, started, content, ranks, root, unused;
};

/* Calls that differ in nothing but their time, in ticks, and their partner. */
struct kind {
    uint64_t calls, ticks, shortest, longest;
    uint64_t between;                    /* from the end of the rank's previous call to the begin */
    uint64_t completed, pending, waited; /* of nonblocking calls: from start to completion; within Wait and Test */
    struct partner partners[PARTNERS];
    uint32_t bins[BINS];
    struct features is;
    uint64_t other_partners;
    char name[NAME_BYTES];
} __attribute__((aligned(LINE)));

struct arrival {
    uint64_t communicator;
    uint32_t sequence, kind;
    uint64_t begin, end, outside;
};

/* One end of a message, the sending or the receiving one. Its channel and its number in it are equal at both. */
struct message {
    uint64_t channel;
    uint32_t sequence, kind;
    uint64_t posted, begin, end;            /* the call that sends or receives; the one that completed it, 0: not known */
    uint64_t outside_posted, outside_ended; /* ticks not in MPI until then */
};

/* What is known of a communicator or window while it exists. */
struct group {
    uintptr_t handle;
    int32_t ranks, rank, neighbours;
    bool inter, is_kept, is_anonymous, has_wildcards;
    uint64_t identity; /* equal at all its ranks; 0: not known */
    uint32_t sequence;
};

/* One end of the messages of a sender to a receiver with one tag in one communicator. A receive may have any peer and tag.
 * No group: there is no message. No communicator: it cannot be told from others. */
struct channel_end {
    uint64_t communicator;
    struct group *group;
    int32_t own, peer, tag;
    bool sent;
};

/* What completes a message: its place in the file, or its number among receives that wait for their number. */
struct posted {
    uint32_t message, level;
    uint64_t receive;
};

/* The call that completes a message; what is spent before it for the message, such as in MPI_Probe, counts as a part. */
struct span {
    uint64_t begin, end, outside;
};

struct call {
    uint64_t begin, end, bytes;
    struct group *group;
    int root, peer;
    enum content content;
};

/* What tells a call from another one of the same name, as the program gave it. */
struct arguments {
    uintptr_t group, type;
    int64_t count;
    int root, peer;
};

/* One of the last calls of a wrapper: most programs repeat few, and then nothing of them is searched again. */
struct memory {
    struct arguments given;
    struct group *group;
    struct kind *kind;
    uint32_t epoch;
};

/* The library's functions, found when MPI is initialised: a library may be loaded later than this file. */
#define LIBRARY_CALLS(FUNCTION) \
    FUNCTION(Comm_size) \
    FUNCTION(Comm_rank) \
    FUNCTION(Comm_remote_size) \
    FUNCTION(Comm_group) \
    FUNCTION(Comm_test_inter) \
    FUNCTION(Comm_split_type) \
    FUNCTION(Comm_dup) \
    FUNCTION(Comm_free) \
    FUNCTION(Group_size) \
    FUNCTION(Group_rank) \
    FUNCTION(Group_free) \
    FUNCTION(Group_translate_ranks) \
    FUNCTION(Win_get_group) \
    FUNCTION(Topo_test) \
    FUNCTION(Cartdim_get) \
    FUNCTION(Graph_neighbors_count) \
    FUNCTION(Dist_graph_neighbors_count) \
    FUNCTION(Type_size_x) \
    FUNCTION(Type_get_name) \
    FUNCTION(Type_get_extent) \
    FUNCTION(Type_get_true_extent) \
    FUNCTION(Test_cancelled) \
    FUNCTION(Send) \
    FUNCTION(Recv)
#ifdef OPEN_MPI
#define HANDLE_CALLS(FUNCTION) FUNCTION(Comm_f2c) FUNCTION(Type_f2c) FUNCTION(Request_f2c) FUNCTION(Win_f2c)
#define TO_C(what, handle) library.what##_f2c(handle)
#else
#define HANDLE_CALLS(FUNCTION)
#define TO_C(what, handle) MPI_##what##_f2c(handle)
#endif
#define DECLARE_FUNCTION(name) __typeof__(&PMPI_##name) name;
struct library {
    LIBRARY_CALLS(DECLARE_FUNCTION)
    HANDLE_CALLS(DECLARE_FUNCTION)
    MPI_Comm world, no_communicator;
    MPI_Datatype byte;
    MPI_Info no_info;
    void *in_place; /* Fortran's MPI_IN_PLACE; C has another */
};
#pragma GCC visibility push(hidden)
extern struct library library;

void *find_next(const char *name); /* startup.c */
void resolve_library(void);
int64_t read_ns(void);

/* --- ticks.c --- */

extern bool has_ticks;
void choose_ticks(void);
void read_pair(uint64_t *ticks, int64_t *ns);
void compare_clocks(struct header *header, bool last);

static inline uint64_t read_ticks(void) {
#if defined(__x86_64__)
    if (has_ticks)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
    return (uint64_t)read_ns();
}

/* --- kinds.c: what was called --- */

extern struct header *header;
extern struct kind *kinds;
extern bool recording, threaded;
extern _Thread_local bool inside __attribute__((tls_model("initial-exec")));

void lock_tables(void);
void unlock_tables(void);
struct kind *find_kind(const struct call *call, int number, const char *name, bool started);
void count_call(struct kind *kind, const struct call *call);
void log_arrival(const struct call *call, const struct kind *kind);

static inline uint32_t number_kind(const struct kind *kind) {
    return (uint32_t)(kind - kinds);
}

static inline uint64_t mix(uint64_t value) {
    value *= 0x9e3779b97f4a7c15u;
    return value ^ value >> 29;
}

/* Whether one of the calls or messages that all ranks concerned number alike is among those that they keep. */
static inline bool is_sampled(uint64_t number, uint32_t level) {
    return level == 0 || mix(number) >> (64 - level) == 0;
}

/* Pages that are written the first time are slow one by one. */
enum { AHEAD = 8192 };
void prepare_pages(void *place, size_t bytes);

/* --- messages.c: both ends of messages between two ranks --- */

static inline bool receives_any(int source, int tag) {
    return source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
}

void place_messages(void *place);
void prepare_first_messages(void);
struct channel_end find_channel(MPI_Comm communicator, struct group *group, int peer, int tag, bool sent);
bool is_countable(const struct channel_end *end);
void post_message(const struct kind *kind, const struct call *call, struct channel_end end, bool is_complete,
                  struct posted *posted);
void finish_message(struct posted *posted, const struct span *span, const MPI_Status *status);
void note_probe(const struct call *call, const MPI_Status *status, bool is_there);
void post_complete(const struct kind *kind, const struct call *call, MPI_Comm communicator, int peer, int tag, bool sent);
struct posted log_message(const struct kind *kind, uint64_t posted, uint64_t outside, const struct channel_end *end);

/* --- receives.c: receives that wait for their number --- */

extern uint32_t pending_any; /* how many receives of any are not complete */
bool is_behind_any(const struct channel_end *end);
void keep_receive(const struct kind *kind, uint64_t began, const struct span *span, const struct channel_end *end,
                  bool is_complete, struct posted *posted);
void finish_receive(uint64_t number, const struct span *span, const MPI_Status *status);
bool cancel_receive(const struct posted *posted);
void detach_receive(struct posted *posted);

/* --- objects.c: communicators, windows and types --- */

extern uint32_t epoch; /* how many were forgotten: their handles may mean others now */
struct group *find_communicator(MPI_Comm communicator);
struct group *find_window(MPI_Win window);
void forget_communicator(uintptr_t handle);
void forget_window(uintptr_t handle);
void forget_type(uintptr_t handle);
uint64_t identify(MPI_Comm communicator, struct group *group);
void meet_communicator(MPI_Comm communicator);
void add_data(struct call *call, int64_t count, MPI_Datatype type);
int count_partners(MPI_Comm communicator, struct group *group, bool neighbours);

/* --- requests.c --- */

void track_request(struct kind *kind, MPI_Request request, const struct call *call, bool persistent, struct channel_end end);

/* Calls within calls are not counted: a wrapper of Fortran calls that of C, and some libraries call their own. */
static inline bool enter_call(struct call *call) {
    if (!recording || inside)
        return false;
    inside = true;
    call->bytes = 0;
    call->group = 0;
    call->root = NO_ROOT;
    call->peer = NO_PEER;
    call->content = BYTES;
    call->begin = read_ticks();
    return true;
}

static inline void leave_call(struct call *call) {
    call->end = read_ticks();
    if (threaded)
        lock_tables();
}

/* What is known of a call in a group of two sides, where only some ranks give data that mean anything. */
static inline bool has_data(const struct call *call) {
    return !call->group->inter || call->root >= 0 || call->root == NO_ROOT;
}

static inline unsigned choose_memory(const struct arguments *given) {
    return (unsigned)((uint64_t)given->count * 0x9e3779b97f4a7c15u >> 56) % MEMORIES;
}

/* The kind of a call that only has another partner than one before; 0: it is another. */
static inline struct kind *recall(const struct memory *memory, const struct arguments *given, struct call *call) {
    const struct arguments *const last = &memory->given;
    if (!memory->kind || memory->epoch != epoch || last->group != given->group || last->type != given->type ||
        last->count != given->count || last->root != given->root ||
        (last->peer == MPI_PROC_NULL) != (given->peer == MPI_PROC_NULL))
        return 0;
    call->group = memory->group;
    call->root = given->root;
    call->peer = given->peer;
    return memory->kind;
}

/* A group that found no place in the table, or calls of any size, have to be found each time. */
static inline void remember(struct memory *memory, const struct arguments *given, const struct call *call, struct kind *kind) {
    const bool is_found = kind->is.bytes == call->bytes && (!call->group || call->group->is_kept);
    *memory = (struct memory){*given, call->group, is_found ? kind : 0, epoch};
}

static inline void finish_call(void) {
    if (threaded)
        unlock_tables();
    inside = false;
}

/* A call that failed: its arguments may be wrong and its results were not set. */
static inline void skip_call(const struct call *call) {
    header->outside += call->begin > header->last_ticks ? call->begin - header->last_ticks : 0;
    header->last_ticks = call->end;
    finish_call();
}
#pragma GCC visibility pop
