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

enum { GUARD_BYTES = 64, NAME_BYTES = 48, REASON_BYTES = 192 };

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
    int root;
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

/* Whether an operation knows MPI_IN_PLACE, and where in the receive buffer a rank's own data lie then; of a rooted one, the
 * root's. `call->send` is MPI_IN_PLACE then. */
enum in_place { NOT_IN_PLACE, IN_PLACE, IN_PLACE_BY_RANK };

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
    bool rooted;
    enum in_place in_place;
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
    int rank;
    int ranks;
    struct clock *clock;
};

/* A rank's clock against rank 0's at one moment: own reading = rank 0's reading + offset, right within the bound. */
struct point {
    int64_t at_ns;
    int64_t offset_ns;
    int64_t bound_ns;
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
    bool yields;
    /* What a scheduled start says of the round: when it should have begun on rank 0's clock, and when it did on the own. */
    int64_t common_ns;
    int64_t begin_ns;
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

/* clock.c: when it will be some time of rank 0's clock on one's own, by the newest synchronisation and the drift known so far. */
int64_t local_time(const struct clock *clock, int64_t common_ns);
/* By how much two clocks may drift apart within some time. */
int64_t most_drift_ns(const struct clock *clock, int64_t time_ns);

/* wait.c: waits for a moment of the own clock and returns the reading that ended it. */
int64_t wait_until(const struct stage *stage, int64_t target_ns);

long amount_bytes(struct amount amount, long size_bytes, int ranks);

/* Data whose every byte can be predicted: bytes for what is moved, small whole numbers for what is summed. */
void fill_bytes(unsigned char *data, long bytes, unsigned stream);
void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch);
void fill_addends(struct call *call);
void check_sums(const struct call *call, struct mismatch *mismatch);

void dissemination_barrier(const struct team *team);

#endif
