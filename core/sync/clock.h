/* A rank's clock against rank 0's, over time. */
#ifndef RANKBENCH_CLOCK_H
#define RANKBENCH_CLOCK_H

#include "base/op.h"

/* A synchronisation, and how far it was from what the ones before had led to expect. */
struct mark {
    struct point point;
    int64_t surprise_ns;
};

struct clock {
    /* One rank of each clock; on other ranks there is no communicator. */
    struct team clocks;
    /* The ranks that read this rank's clock. */
    struct team readers;
    int number_of_clocks;
    /* Rank 0's own: nothing is uncertain about it. */
    bool is_first;
    int64_t step_ns;
    struct mark *marks;
    int count, room;
    /* The offset grows by this much per nanosecond, within the bound, and likely within the other. */
    double drift, drift_bound, drift_likely;
    /* Over all ranks: the bound of the newest synchronisation, and the fastest that two clocks may drift apart. */
    int64_t worst_bound_ns;
    double worst_drift, worst_drift_bound;
};

/* An offset that holds at some moment: how wrong it can be, and likely is (as in struct point). */
struct reading {
    double offset_ns;
    double bound_ns;
    double likely_ns;
};

/* Finds the ranks of the team that read one clock: those whose identities are equal. */
struct clock *make_clock(const struct team *team, const char *identity, int64_t step_ns);
void free_clock(struct clock *clock);

/* Called by all ranks of the team. Returns without a message where they read one clock. */
void synchronise(const struct team *team, const struct source *source, const struct synchronisation *method);

/* Knows nothing any more. */
void reset_clock(struct clock *clock);

/* Forgets all but the newest synchronisations. */
void drop_old_marks(struct clock *clock);

/* What is expected at a moment after the newest synchronisation. */
struct reading predict_offset(const struct clock *clock, int64_t local_ns);
/* What is known of a moment between two synchronisations; after the newest one, what is expected. */
struct reading find_offset(const struct clock *clock, int64_t local_ns);

/* A point carried on to a later moment of its clock. */
struct point extrapolate_point(const struct clock *clock, struct point point, int64_t at_ns);

/* On rank 0: whether offsets have become twice as uncertain since the newest synchronisation, and this matters for calls of
 * some length. */
bool is_stale(const struct clock *clock, int64_t local_ns, double call_ns);

/* When it will be some time of rank 0's clock on one's own, by the newest synchronisation and the drift known so far. */
int64_t find_local_ns(const struct clock *clock, int64_t common_ns);
/* By how much two clocks may drift apart within some time. */
int64_t find_most_drift_ns(const struct clock *clock, int64_t time_ns);

#endif
