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

enum { ROOT = 0, GUARD_BYTES = 64, NAME_BYTES = 48 };

/* What a call that the library lacks returns; `missing.h` maps such calls to missing_call. */
enum { CALL_MISSING = -4711 };
int missing_call(const char *name, ...);

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* Bytes for a message size n among p ranks: n * (own + each * p). */
struct amount {
    int own;
    int each;
};

struct datatype {
    const char *name;
    const char *help;
    MPI_Datatype type;
    int bytes;
};

/* The first wrong byte of a data check. */
struct mismatch {
    long wrong_bytes;
    long offset;
    unsigned char expected;
    unsigned char found;
};

/* One operation ready to be called: all that an operation's functions see. */
struct call {
    MPI_Comm comm;
    int rank;
    int ranks;
    int count;
    long bytes;
    const struct datatype *datatype;
    unsigned char *send;
    unsigned char *receive;
    long send_bytes;
    long receive_bytes;
    int messages;
    MPI_Request *requests;
    int (*initiate)(struct call *);
    unsigned seed;
};

struct operation {
    const char *name;
    const char *help;
    const char *standard;
    const char *kind;
    const char *metric;
    struct amount send, receive;
    struct amount root_send, root_receive;
    bool sized;
    bool reduces;
    int ranks_exactly;
    int messages;
    bool rank_0_measures;
    /* All messages of a call leave from one buffer, so that the buffer is smaller than what is sent. */
    bool resends;
    /* Its calls wait for their own requests; otherwise the loop completes what they initiate. */
    bool completes;
    const char *start;
    int (*forms[FORMS])(struct call *);
    void (*fill)(struct call *);
    void (*check)(const struct call *, struct mismatch *);
};

struct source {
    const char *name;
    const char *help;
    bool shared_on_host;
    int64_t (*read_ns)(void);
};

/* The ranks that work together in a case, and the communicator on which the core itself talks. */
struct team {
    MPI_Comm comm;
    int rank;
    int ranks;
};

/* A rank's clock against rank 0's: own reading = rank 0's reading + offset, right within the bound. */
struct offset {
    int64_t offset_ns;
    int64_t bound_ns;
};

struct synchronisation {
    const char *name;
    const char *help;
    /* `shares`: this rank reads the same clock as rank 0, so that there is nothing to measure. */
    struct offset (*run)(const struct team *, const struct source *, bool shares);
};

/* A run of rounds without talk between the ranks other than the operation's own. */
struct stage {
    const struct team *team;
    int64_t (*read_ns)(void);
    int64_t offset_ns;
    int64_t first_ns;
    int64_t window_ns;
    bool yields;
    int64_t target_ns;
};

struct start {
    const char *name;
    const char *help;
    bool scheduled;
    bool loops;
    /* Holds the rank until it may begin the round, and returns whether it came in time. A scheduled start sets `target_ns`,
     * the local time from which the round counts; other rounds count from the return. */
    bool (*begin)(struct stage *, int round);
};

#define COLLECTIVE .kind = "collective", .metric = "time", .start = "window"

/* What every rank sends or receives alike; a rooted operation names its amounts one by one. */
#define SENDS(...) .send = __VA_ARGS__, .root_send = __VA_ARGS__
#define RECEIVES(...) .receive = __VA_ARGS__, .root_receive = __VA_ARGS__

#define REGISTER(kind, row) \
    static const struct kind *const registered_##row __attribute__((used, section("rb_" #kind))) = &(row)

#define REGISTERED(kind) \
    extern const struct kind *const __start_rb_##kind[]; \
    extern const struct kind *const __stop_rb_##kind[]

REGISTERED(operation);
REGISTERED(start);
REGISTERED(source);
REGISTERED(synchronisation);

long amount_bytes(struct amount amount, long size_bytes, int ranks);

/* Data whose every byte can be predicted: bytes for what is moved, small whole numbers for what is summed. */
void fill_bytes(unsigned char *data, long bytes, unsigned stream);
void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch);
void fill_addends(struct call *call);
void check_sums(const struct call *call, struct mismatch *mismatch);

void dissemination_barrier(const struct team *team);

#endif
