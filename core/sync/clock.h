/* Offset of a rank's clock from rank 0's, over time. */
#ifndef RANKBENCH_CLOCK_H
#define RANKBENCH_CLOCK_H

#include "base/op.h"

/* A synchronisation, and its distance from the prediction by the ones before. */
struct mark {
    struct point point;
    int64_t surprise_ns;
};

struct clock {
    /* One rank of each clock; other ranks have no communicator. */
    struct team clocks;
    /* The ranks that read this rank's clock. */
    struct team readers;
    int number_of_clocks;
    /* This is rank 0's clock, which is exact by definition. */
    bool is_first;
    int64_t step_ns;
    struct mark *marks;
    int count, room;
    /* The offset grows by `drift` per nanosecond; its bound, and its estimated error. */
    double drift, drift_bound, drift_likely;
    /* Over all ranks: the bound of the newest synchronisation, and the fastest rate at which two clocks may drift
     * apart. */
    int64_t worst_bound_ns;
    double worst_drift, worst_drift_bound;
};

/* An offset at some moment, with its bound and its estimated error as in struct point. */
struct reading {
    double offset_ns;
    double bound_ns;
    double likely_ns;
};

/* Groups the ranks of the team by clock: those with equal identities read the same one. */
struct clock *make_clock(const struct team *team, const char *identity, int64_t step_ns);
void free_clock(struct clock *clock);

/* Called by all ranks of the team. Does nothing where all read one clock. */
void synchronise(const struct team *team, const struct source *source, const struct synchronisation *method);

/* Drops all synchronisations. */
void reset_clock(struct clock *clock);

/* Drops all but the newest synchronisations. */
void drop_old_marks(struct clock *clock);

/* The predicted offset at a time after the newest synchronisation. */
struct reading predict_offset(const struct clock *clock, int64_t local_ns);
/* The offset at a time between two synchronisations; predicted after the newest one. */
struct reading find_offset(const struct clock *clock, int64_t local_ns);

/* A point extrapolated to another time of its clock. */
struct point extrapolate_point(const struct clock *clock, struct point point, int64_t at_ns);

/* On rank 0: whether offsets are twice as uncertain as at the newest synchronisation, and this matters for calls of
 * this length. */
bool is_stale(const struct clock *clock, int64_t local_ns, double call_ns);

/* Converts a time of rank 0's clock to the own clock, by the newest synchronisation and the drift. */
int64_t find_local_ns(const struct clock *clock, int64_t common_ns);
/* How far two clocks may drift apart within some time. */
int64_t find_most_drift_ns(const struct clock *clock, int64_t time_ns);

#endif
