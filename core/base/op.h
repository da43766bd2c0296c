/* The contract between the timing loop and the units that it times: operations, starts, time sources, synchronisations.
 *
 * Every unit is one file in ops/, starts/ or clocks/: its functions, then its row, then REGISTER(...), which puts a
 * pointer to the row into a linker section that registry.c reads. */
#ifndef RANKBENCH_OP_H
#define RANKBENCH_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "missing.h"

/* GUARD fills memory that no call may write, and receive buffers before a call. */
enum {
    GUARD_BYTES = 64,
    GUARD = 0xA5,
    NAME_BYTES = 48,
    REASON_BYTES = 192,
    MOST_CHOICES = 20,
    MOST_BLOCKS = 4096,
    MOST_DIMENSIONS = 6
};

/* Return value of a call that the library lacks; `missing.h` maps such calls to missing_call. */
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

/* How times are reported: as they are, as a latency (half of a round trip), or as bytes or messages per second. */
enum metric { METRIC_TIME, METRIC_LATENCY, METRIC_BANDWIDTH, METRIC_RATE, METRICS };

/* Bytes for message size n and p ranks: n * (base + each * p), per call or per message of a call. */
struct amount {
    int base;
    int each;
    bool per_message;
};

/* An option of an operation beside form, size and datatype: one of several names, of which the first is the default, a
 * whole number, or the extents of a grid. Every choice is a key of the job, an option of the core and part of a case. */
struct choice {
    const char *name;
    const char *help;
    /* Ends with NULL. NULL: the choice is a number. */
    const char *const *names;
    int64_t least, most, usual;
    /* The value is extents such as 4x4, the first one in the lowest EXTENT_BITS; 0, the default, is "auto". */
    bool extents;
};

enum { EXTENT_BITS = 10, MOST_EXTENT = (1 << EXTENT_BITS) - 1 };

/* Layout of a message in memory. With a derived type the whole message is one element. */
struct datatype {
    const char *name;
    const char *help;
    /* The size of a message is a multiple of these bytes. */
    int bytes;
    /* The predefined MPI type, for elements without gaps. */
    MPI_Datatype basic;
    /* Otherwise: makes the type of a message, and returns the distance in bytes between blocks of that type, and the
     * place of byte k of a message. */
    int (*make)(long bytes, MPI_Datatype *type);
    long (*find_extent)(long bytes);
    long (*find_place)(long position, long bytes);
};

struct excerpt;

/* The first wrong byte of a data check. */
struct mismatch {
    long wrong_bytes;
    long offset;
    unsigned char expected;
    unsigned char actual;
    /* Text of a fault that is no wrong byte; NULL: the fault is that byte. */
    const char *instead;
    /* Where the check copies received and expected bytes (kit/data.h); NULL: nowhere. */
    struct excerpt *excerpt;
};

/* The grid of ranks, as reported with the results of a case. */
struct layout {
    int dimensions;
    int extents[MOST_DIMENSIONS];
    /* Rings only: messages in sequence until a round is complete. */
    int hops;
    int ranks;
    /* Rank of the team at each place of the grid, on the first rank only; NULL: place i has rank i. */
    const int *order;
};

struct operation;

/* One operation ready to be called: all that an operation's functions see.
 *
 * Buffers passed to MPI hold blocks `extent` bytes apart, each with `count` elements of `type`. `fill` and `check` see
 * contiguous blocks of `bytes`; for types with gaps the core copies between the two layouts. */
struct call {
    /* Who takes part. */
    struct {
        /* Communicator of the calls. The ranks of the team are its first ranks; it may have more. */
        MPI_Comm comm;
        /* Communicator of exactly the ranks of the team, for collective calls that are not timed as collectives, such
         * as window creation. */
        MPI_Comm members;
        int rank;
        int ranks;
        int root;
        /* The two ranks of an operation between two ranks. */
        int first, second;
    } peers;
    /* One message, or the part of one rank in a collective. */
    struct {
        int count;
        /* Count for operations with `data.large`. */
        MPI_Count large_count;
        MPI_Datatype type;
        MPI_Op reduction;
        long bytes;
        long extent;
        const struct datatype *datatype;
    } message;
    /* The buffers of this rank. */
    struct {
        unsigned char *send;
        unsigned char *receive;
        /* Bytes sent and received by this rank, without gaps. */
        long send_bytes;
        long receive_bytes;
        /* Receive buffer allocated by the operation, which replaces the core's; NULL: there is none. */
        unsigned char *elsewhere;
        /* Runs until the receive buffer was last overwritten. */
        int64_t runs_before;
    } buffers;
    /* Runs of the case so far; of several threads each counts its own. */
    int64_t runs;
    /* Messages of one call that are in flight at the same time. */
    struct {
        /* Messages of one call, such as the window of a bandwidth test or one per neighbour. */
        int messages;
        /* One request per message, at least two. */
        MPI_Request *requests;
        /* Requests that the loop completes after `initiate`: one unless `prepare` sets more. */
        int pending;
        /* Statuses of receives that are compared; NULL: none are. */
        struct receipts *receipts;
    } window;
    /* Payload and messages of one call over all ranks; 0: they follow from the amounts of the row. */
    struct {
        int64_t bytes;
        int64_t messages;
    } moved;
    enum form form;
    int (*initiate)(struct call *);
    /* Frees what a call made, as a part of the timed call; NULL: it is freed afterwards. `frees` is set meanwhile: nothing
     * is inspected then. */
    int (*release)(struct call *);
    bool frees;
    /* Data of the operation itself, made by `prepare` and freed by `finish`. */
    void *state;
    /* Grid of the ranks, for operations on a grid. */
    const struct layout *layout;
    unsigned seed;
    const struct operation *operation;
    const struct choice_value *choices;
    /* The threads that call at the same time, and the computation during calls; NULL: none. */
    struct thread_team *thread_team;
    const struct work *work;
};

/* Whether an operation supports MPI_IN_PLACE, and where a rank's own data then are in the receive buffer; for rooted
 * operations this concerns the root only. `call->send` is MPI_IN_PLACE then, or `call->receive` where the root keeps a
 * part of what it sends. */
enum in_place { NOT_IN_PLACE, IN_PLACE, IN_PLACE_BY_RANK, IN_PLACE_ROOT_KEEPS };

/* Direction of one-sided transfers. Data that are added all go to one place. */
enum rma_kind { PUTS, GETS, ADDS };

/* Datatypes that an operation accepts. */
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
    /* The default form, unless it is the first one. */
    enum form usual;
    /* Why results are not checked; for operations without `check` that do not synchronise. */
    const char *unchecked;
    /* Who takes part. */
    struct {
        bool rooted;
        /* Least number of ranks, or pairs of ranks; otherwise all ranks take part. Ranks without a part sleep. */
        int least;
        bool in_pairs;
        /* Exactly two ranks take part, `first` and `second`, which are options. */
        bool between_two;
    } ranks;
    /* Amounts of data sent and received by each rank. */
    struct {
        struct amount send, receive;
        struct amount root_send, root_receive;
        /* Amounts are means over ranks: the buffers of a rank have room for so many times as much. 0 means 1. */
        int room;
    } amounts;
    /* Datatypes, and how calls use the buffers. */
    struct {
        bool sized;
        enum datatypes datatypes;
        enum in_place in_place;
        /* Messages per call, unless `count_messages` counts them; 0 means 1. */
        int messages;
        /* Whether all messages of a call leave from one buffer of the size of a message; NULL: never. */
        bool (*shares_buffer)(const struct call *);
        /* The buffers are fixed by `prepare`, as by persistent requests; they cannot be cold or change between calls. */
        bool keeps_buffers;
        /* All the same no other rank reads the send buffer, so that data change between calls. */
        bool sends_alone;
        /* The result depends on the earlier content of the receive buffer, as with sums in place. Only single calls
         * with new data are checked. */
        bool accumulates;
        /* Each round writes its number into the send buffer, which calls may otherwise only read. */
        bool numbers_rounds;
        /* Counts are of type MPI_Count. */
        bool large;
    } data;
    /* One-sided operations: the number of blocks that origins before `until` move to or from a target's memory in one
     * call. */
    struct {
        int (*pattern)(const struct call *, int until, int target);
        enum rma_kind kind;
    } rma;
    /* How the operation is timed. */
    struct {
        const char *start;
        /* Only `first`, or rank 0, reads the clock; otherwise the time is that of the slowest rank. */
        bool rank_0_measures;
        /* Repetitions within each call, by which times are divided. 0 means 1. */
        int rounds;
        /* Calls complete their own requests; otherwise the loop completes those that `initiate` started. */
        bool completes;
        /* Several threads of a rank may call it at the same time. */
        bool threads;
        /* No rank may return before all ranks have called. */
        bool synchronises;
    } timing;
    /* Hooks that the core calls; NULL: none. */
    struct {
        /* Number of ranks that take part, given the choices; 0 or NULL: all. */
        int (*takes)(const struct call *);
        /* Messages per call, given the choices. */
        int (*count_messages)(const struct call *);
        /* Why the choices are invalid, in one line; NULL: they are valid. */
        const char *(*refuse)(const struct call *);
        /* Whether this rank measures on its own: its samples are reported separately. Called after `prepare`. */
        bool (*measures)(const struct call *);
        /* For what happens once per launch: its time on this rank. */
        int64_t (*read_once_ns)(void);
        /* Not timed. `prepare` and `finish` run once per case, `before` and `after` around each call. */
        int (*prepare)(struct call *);
        void (*finish)(struct call *);
        int (*before)(struct call *);
        int (*after)(struct call *);
        /* Further tests of a checked, untimed call; runs before `after`. */
        int (*prove)(struct call *);
        void (*fill)(struct call *);
        void (*check)(const struct call *, struct mismatch *);
        /* Whether other ranks write to this rank's memory without a call of its own; NULL: never. */
        bool (*is_passive_target)(const struct call *);
    } hooks;
};

/* Which ranks read the same clock. */
enum sharing { SHARED_BY_NOBODY, SHARED_BY_NAMESPACE, SHARED_BY_KERNEL };

struct source {
    const char *name;
    const char *help;
    enum sharing sharing;
    int64_t (*read_ns)(void);
    /* Initialises the source. Returns true with a line on why it can be trusted, or false with the reason why not.
     * NULL: nothing to do. */
    bool (*prepare)(char reason[REASON_BYTES]);
    /* Parameters such as the frequency, which all ranks that share the clock must use. */
    void *parameters;
    int parameter_bytes;
};

/* The ranks of a case, the communicator for messages of the core itself, and their clocks. */
struct team {
    MPI_Comm comm;
    /* `calls` is for timed operations and may have more ranks, numbered after those of the team. `members` has exactly
     * the ranks of the team. */
    MPI_Comm calls, members;
    int rank;
    int ranks;
    struct clock *clock;
    /* This rank takes no part in the current case and sleeps while it waits for the others. */
    bool idle;
    /* Number of ranks that take part, from rank 0; 0: not limited. */
    int takes;
};

/* Offset of a rank's clock at one moment: own reading = rank 0's reading + offset. The error is at most the bound, and
 * expected to be within `likely_ns` in 19 of 20 cases. */
struct point {
    int64_t at_ns;
    int64_t offset_ns;
    int64_t bound_ns;
    double likely_ns;
};

struct synchronisation {
    const char *name;
    const char *help;
    /* Called on one rank per clock; `clocks` is the team of these ranks. Returns this rank's offset; that of rank 0 is
     * exact. */
    struct point (*run)(const struct team *clocks, const struct source *source);
};

/* A sequence of rounds in which ranks exchange only the messages of the operation itself. */
struct stage {
    const struct team *team;
    int64_t (*read_ns)(void);
    /* Start of the first round on rank 0's clock. */
    int64_t first_ns;
    int64_t window_ns;
    int64_t slack_ns;
    /* How late a round may begin to be valid. */
    int64_t tolerance_ns;
    bool yields;
    /* Waiting ranks call MPI, to give it progress. */
    bool calls;
    /* Ranks rest for `rest` windows after every `group` rounds. */
    int group, rest;
    /* Start of the next window, and whether this rank came too late for its window. */
    int64_t next_ns;
    bool skipped;
    /* Set by scheduled starts: the planned start on rank 0's clock, and the actual start on the own clock. */
    int64_t common_ns;
    int64_t begin_ns;
    /* Delay of this rank after the common start, from the arrival pattern. */
    int64_t delay_ns;
};

struct start {
    const char *name;
    const char *help;
    bool scheduled;
    /* Ranks agree on the next start in every round, `slack_ns` ahead. */
    bool agrees;
    bool loops;
    /* Rounds that last longer than their window are discarded. */
    bool discards_overruns;
    /* Rounds of a stage that are not recorded, and those that are; 0: variable. */
    int lead, rounds;
    /* Windows grow by this factor if more than `bad_share` of the rounds of a stage are bad. */
    double growth, bad_share;
    /* Waits until the rank may begin the round. Returns whether it came in time. */
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

/* Equal amounts on all ranks; rows of rooted operations set each amount separately. */
#define SENDS(...) .amounts.send = __VA_ARGS__, .amounts.root_send = __VA_ARGS__
#define RECEIVES(...) .amounts.receive = __VA_ARGS__, .amounts.root_receive = __VA_ARGS__
/* Equal amounts on both sides: from the root, or the first of two ranks, to the others, and the other way round. */
#define FROM_ROOT(...) .amounts.root_send = __VA_ARGS__, .amounts.receive = __VA_ARGS__
#define TO_ROOT(...) .amounts.send = __VA_ARGS__, .amounts.root_receive = __VA_ARGS__

/* The functions of the three forms, by the calls of MPI and their arguments, which are the same but for the request. */
#define ALL_FORMS(suffix, plain, immediate, init, ...) \
    static int blocking##suffix(struct call *call) { \
        return plain(__VA_ARGS__); \
    } \
    static int nonblocking##suffix(struct call *call) { \
        return immediate(__VA_ARGS__, call->window.requests); \
    } \
    static int persistent##suffix(struct call *call) { \
        return init(__VA_ARGS__, MPI_INFO_NULL, call->window.requests); \
    }

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
