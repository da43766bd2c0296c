/* The contract between the timing loop and what it times: operations, starts, time sources, synchronisations.
 *
 * Every unit is one file in ops/, starts/ or clocks/: functions first, its row last, and REGISTER(...) at the foot, which
 * puts a pointer to the row into a linker section that registry.c walks. */
#ifndef RANKBENCH_OP_H
#define RANKBENCH_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "missing.h"

/* GUARD: what memory holds that no call may write, and what is to be received until it is. */
enum {
    GUARD_BYTES = 64,
    GUARD = 0xA5,
    NAME_BYTES = 48,
    REASON_BYTES = 192,
    MOST_CHOICES = 20,
    MOST_BLOCKS = 4096,
    MOST_DIMENSIONS = 6,
    RESEND_STEP = 8
};

/* What a call that the library lacks returns; `missing.h` maps such calls to missing_call. */
enum { CALL_MISSING = -4711 };
int missing_call(const char *name, ...);

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* From 1: a row without a kind has none. Their names are in registry.c. */
enum kind {
    KIND_COLLECTIVE = 1,
    KIND_POINT_TO_POINT,
    KIND_NEIGHBOURHOOD,
    KIND_ONE_SIDED,
    KIND_PROCESS,
    KIND_LOCAL,
    KIND_SELF_TEST,
    KINDS
};

/* How a time is reported: as it is, as a latency (half of it), as bytes per second or as messages per second. */
enum metric { METRIC_TIME, METRIC_LATENCY, METRIC_BANDWIDTH, METRIC_RATE, METRICS };

/* Bytes for a message size n among p ranks: n * (base + each * p), for each message of a call or once. */
struct amount {
    int base;
    int each;
    bool per_message;
};

/* Something that can be chosen of an operation beside form, size and datatype: one of some names, of which the first holds
 * unless another is said, a whole number, or the extents of a grid. Every choice becomes a key of the job, an option of the
 * core and part of a case. */
struct choice {
    const char *name;
    const char *help;
    /* Ends with NULL; NULL in place of it: a number. */
    const char *const *names;
    int64_t least, most, usual;
    /* Extents such as 4x4, the first in the lowest EXTENT_BITS; 0, which is usual: "auto". */
    bool extents;
};

enum { EXTENT_BITS = 10, MOST_EXTENT = (1 << EXTENT_BITS) - 1 };

/* How a message lies in memory. Of derived types one element is the whole message. */
struct datatype {
    const char *name;
    const char *help;
    /* A message is a whole number of these many bytes. */
    int bytes;
    /* What MPI names the type, if elements lie side by side. */
    MPI_Datatype basic;
    /* Else: makes the type of a message, and says how far apart blocks of that type lie and where byte k of a message is. */
    int (*make)(long bytes, MPI_Datatype *type);
    long (*extent)(long bytes);
    long (*place)(long position, long bytes);
};

/* The first wrong byte of a data check. */
struct mismatch {
    long wrong_bytes;
    long offset;
    unsigned char expected;
    unsigned char actual;
    /* What is wrong where it is no byte, in words; NULL: it is that byte. */
    const char *instead;
};

/* How ranks lie on a grid, as a case's results show it. */
struct layout {
    int dimensions;
    int extents[MOST_DIMENSIONS];
    /* Of rings: how many messages one after the other bring a round home. */
    int hops;
    int ranks;
    /* Which rank of the team has which place, on its first rank; NULL: each its own. */
    const int *order;
};

/* One operation ready to be called: all that an operation's functions see.
 *
 * What calls are given lies in blocks, `extent` bytes apart, each `count` elements of `type`. What `fill` and `check` see lies
 * side by side, `bytes` a block: where the type has gaps, the core moves data between the two. */
struct call {
    /* Who takes part. */
    struct {
        /* Where calls go. Rank numbers are those of the team; more ranks than the team's may be in it. */
        MPI_Comm comm;
        /* The ranks of the team and no others: what is collective and no plain collective, such as a window, goes here. */
        MPI_Comm members;
        int rank;
        int ranks;
        int root;
        /* The two ranks of an operation between two. */
        int first, second;
    } peers;
    /* One message, or one rank's part of a collective. */
    struct {
        int count;
        /* The count of rows that are `large`. */
        MPI_Count large_count;
        MPI_Datatype type;
        MPI_Op reduction;
        long bytes;
        long extent;
        const struct datatype *datatype;
    } message;
    /* Where data of this rank lie. */
    struct {
        unsigned char *send;
        unsigned char *receive;
        /* Bytes of data this rank hands over and gets, gaps not counted. */
        long send_bytes;
        long receive_bytes;
        /* Where an operation made its own memory, what it receives lies there and not in the core's buffers. */
        unsigned char *elsewhere;
    } buffers;
    /* What is under way at the same time. */
    struct {
        /* Messages of one call, such as the window of a bandwidth test or the neighbours of a rank. */
        int messages;
        /* Where all messages leave from one buffer: each begins RESEND_STEP bytes after the one before, so that one in another's
         * place is seen. So it is while data are checked, not while calls are timed. */
        bool shifted;
        /* Room for one request a message, two at least. */
        MPI_Request *requests;
        /* How many of them the loop completes after what `initiate` began; one unless `prepare` says otherwise. */
        int pending;
        /* What receives report of their messages; NULL: nobody looks. */
        struct receipts *receipts;
    } window;
    /* What all ranks together move in one call: payload and messages, if `prepare` knows better than the row's amounts say. */
    struct {
        int64_t bytes;
        int64_t messages;
    } moved;
    enum form form;
    int (*initiate)(struct call *);
    /* What `prepare` made for the operation alone; `finish` puts it away. */
    void *state;
    /* Where ranks lie on a grid, that grid. */
    const struct layout *layout;
    unsigned seed;
    const struct choice_value *choices;
    /* The threads that do the same at the same time, if there are several, and what is computed meanwhile, if anything is. */
    struct thread_team *thread_team;
    const struct work *work;
};

/* Whether an operation knows MPI_IN_PLACE, and where in the receive buffer a rank's own data lie then; of a rooted one, the
 * root's. `call->send` is MPI_IN_PLACE then; where the root keeps a part of what it sends, its `call->receive` is. */
enum in_place { NOT_IN_PLACE, IN_PLACE, IN_PLACE_BY_RANK, IN_PLACE_ROOT_KEEPS };

/* Which datatypes can be: any, those that can be reduced, whole numbers, or bytes alone. */
enum datatypes { ANY_DATATYPE, NUMBERS, WHOLE_NUMBERS, BYTES };

struct operation {
    const char *name;
    const char *help;
    const char *standard;
    enum kind kind;
    enum metric metric;
    /* Ends with NULL; NULL: nothing. */
    const struct choice *const *choices;
    int (*forms[FORMS])(struct call *);
    /* The default form, if it is not the first. */
    enum form usual;
    /* Why there is nothing to check, where there is no `check` and it does not synchronise. */
    const char *unchecked;
    /* Who takes part. */
    struct {
        bool rooted;
        /* At least so many, or as many as make pairs; else all. Others stay out and sleep. */
        int least;
        bool in_pairs;
        /* It is between two ranks, `first` and `second`, which can be chosen. Two take part. */
        bool between_two;
    } ranks;
    /* How much data ranks hand over and get. */
    struct {
        struct amount send, receive;
        struct amount root_send, root_receive;
        /* Amounts are means over ranks: one rank may hand over or get so many times as much. 0 means 1. */
        int room;
    } amounts;
    /* What data can be, and how calls treat the buffers. */
    struct {
        bool sized;
        enum datatypes datatypes;
        enum in_place in_place;
        /* The messages of a call, unless they are counted; 0 means 1. */
        int messages;
        /* All messages of a call leave from one buffer, so that the buffer is smaller than what is sent; see `apart`. */
        bool resends;
        /* `prepare` binds the buffers of the first call, as persistent requests do; they cannot be cold or change. */
        bool keeps_buffers;
        /* What is received depends on what was there before: sums are added on. Checked in single calls with fresh data. */
        bool accumulates;
        /* A round writes its number into what it sends, which a call may else only read. */
        bool numbers_rounds;
        /* It counts elements as MPI_Count. */
        bool large;
    } data;
    /* How it is timed. */
    struct {
        const char *start;
        /* The first of the two, or rank 0, alone reads clocks; else the time is the last rank's. */
        bool rank_0_measures;
        /* How many times in a row each call does what it is asked; a time is divided by it. 0 means 1. */
        int rounds;
        /* Its calls wait for their own requests; otherwise the loop completes what they initiate. */
        bool completes;
        /* Several threads of a rank can do it at once. */
        bool threads;
        /* No rank returns before all have come. */
        bool synchronises;
    } timing;
    /* What the core calls around the calls; NULL: nothing. */
    struct {
        /* Of how many of the first ranks it is, by what was chosen; 0 or NULL: of all. */
        int (*takes)(const struct call *);
        /* The messages of a call, once the choices are known. */
        int (*count_messages)(const struct call *);
        /* Why the chosen options are invalid, in one line; NULL: they are valid. */
        const char *(*refuses)(const struct call *);
        /* Ranks of which this is true measure, each for itself: samples of each of them are reported. Known once it is prepared. */
        bool (*measures)(const struct call *);
        /* It happens once in a launch, before everything else; this is how long it took on this rank. */
        int64_t (*once_ns)(void);
        /* Not timed: before the first call and after the last, and right before and right after each. */
        int (*prepare)(struct call *);
        void (*finish)(struct call *);
        int (*before)(struct call *);
        int (*after)(struct call *);
        /* Before `after`, of calls that are checked and not timed: what only more calls can show. */
        int (*prove)(struct call *);
        void (*fill)(struct call *);
        void (*check)(const struct call *, struct mismatch *);
        /* Whether others bring data to this rank that its own call does not wait for; NULL: they never do. */
        bool (*is_passive_target)(const struct call *);
    } hooks;
};

/* Which ranks read one and the same clock. */
enum sharing { SHARED_BY_NOBODY, SHARED_BY_NAMESPACE, SHARED_BY_KERNEL };

struct source {
    const char *name;
    const char *help;
    enum sharing sharing;
    int64_t (*read_ns)(void);
    /* Makes the source ready and says in one line why it can be trusted, or returns false and says why not. NULL: always. */
    bool (*prepare)(char reason[REASON_BYTES]);
    /* What ranks that share the clock must agree on before they read it, such as its frequency. */
    void *parameters;
    int parameter_bytes;
};

/* The ranks that work together in a case, the communicator on which the core itself talks, and their clocks. */
struct team {
    MPI_Comm comm;
    /* Where operations of these ranks go: the numbers of its ranks are those of the team, but there may be more of them. And
     * the communicator of these ranks and no others. */
    MPI_Comm calls, members;
    int rank;
    int ranks;
    struct clock *clock;
    /* This rank has no part in the case at hand: while it waits for the others it sleeps. */
    bool idle;
    /* How many ranks, the first, have a part in it; 0: it does not say. */
    int takes;
};

/* A rank's clock against rank 0's at one moment: own reading = rank 0's reading + offset. The error cannot exceed the bound, and in
 * 19 of 20 cases is not expected to exceed the likely one. */
struct point {
    int64_t at_ns;
    int64_t offset_ns;
    int64_t bound_ns;
    double likely_ns;
};

struct synchronisation {
    const char *name;
    const char *help;
    /* Called on one rank of each clock; `clocks` is the team of these ranks. Returns the rank's own point; rank 0's is exact. */
    struct point (*run)(const struct team *clocks, const struct source *source);
};

/* A run of rounds without talk between the ranks other than the operation's own. */
struct stage {
    const struct team *team;
    int64_t (*read_ns)(void);
    /* When the first round begins, on rank 0's clock. */
    int64_t first_ns;
    int64_t window_ns;
    int64_t slack_ns;
    /* How late a round may begin and still count. */
    int64_t tolerance_ns;
    bool yields;
    /* After how many rounds ranks rest for how many windows. */
    int group, rest;
    /* When the next window begins, where windows follow each other; and whether the rank came too late for this one. */
    int64_t next_ns;
    bool skipped;
    /* What a scheduled start says of the round: when it should have begun on rank 0's clock, and when it did on the own. */
    int64_t common_ns;
    int64_t begin_ns;
    /* How much later than the common start this rank is to begin the round, as its arrival pattern has it. */
    int64_t delay_ns;
};

struct start {
    const char *name;
    const char *help;
    bool scheduled;
    /* The next start is agreed on in every round, `slack_ns` ahead. */
    bool agrees;
    bool loops;
    /* Rounds that last longer than their window count as bad, and are not used. */
    bool discards_overruns;
    /* Rounds of a stage that are not scored; those that are, 0: as many as go well. */
    int lead, rounds;
    /* By how much windows grow when more than this share of a stage's rounds is bad. */
    double growth, bad_share;
    /* Holds the rank until it may begin the round, and returns whether it came in time. */
    bool (*begin)(struct stage *, int round);
};

#define COLLECTIVE .kind = KIND_COLLECTIVE, .metric = METRIC_TIME, .timing.start = "window", .timing.threads = true

#define CHOICES(...) \
    .choices = (const struct choice *const[]) { \
        __VA_ARGS__, NULL \
    }
#define NAMES_OF(...) \
    .names = (const char *const[]) { \
        __VA_ARGS__, NULL \
    }

/* What every rank sends or receives; a rooted operation names its amounts one by one. */
#define SENDS(...) .amounts.send = __VA_ARGS__, .amounts.root_send = __VA_ARGS__
#define RECEIVES(...) .amounts.receive = __VA_ARGS__, .amounts.root_receive = __VA_ARGS__

#define REGISTER(kind, row) static const struct kind *const registered_##row __attribute__((used, section("rb_" #kind))) = &(row)

#define REGISTERED(kind) \
    extern const struct kind *const __start_rb_##kind[]; \
    extern const struct kind *const __stop_rb_##kind[]

REGISTERED(operation);
REGISTERED(datatype);
REGISTERED(start);
REGISTERED(source);
REGISTERED(synchronisation);

#endif
