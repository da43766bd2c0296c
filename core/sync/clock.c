/* Offsets over time.
 *
 *   offset   x - - - - - x - - - - - - x . . . . . .       x  synchronisations, each right within its bound
 *                                                          -  interpolated between two, with bounds
 *                                                          .  predicted by the drift so far
 *
 * The drift follows from the two synchronisations that determine it best, and its bound from their bounds. It is assumed
 * to be nearly constant: in steady operation it changes by less than WANDER. The next synchronisation shows how much it
 * changed: its distance from the prediction, the surprise, widens the bounds of the interval before it, most at its end
 * (a drift that changes at once leaves the straight line there). Estimated errors are treated alike, in squares. */
#define _GNU_SOURCE
#include "sync/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/tree.h"

/* Quartz clocks are within 100 ppm of their nominal rate, so two of them differ by at most twice that. */
static const double UNKNOWN_DRIFT = 200e-6;
static const double WANDER = 0.1e-6;
/* A larger drift means that a clock was set. */
static const double IMPOSSIBLE_DRIFT = 0.05;
/* A call whose start is uncertain by less than this share of its time needs no better clock. */
static const double HARMLESS = 0.005;
enum { BASELINE_NS = 20000000, HORIZON_S = 100, KEPT = 32, IDENTITY_BYTES = 200 };

/* --- who reads which clock --- */

static int hash_identity(const char *identity, uint32_t salt) {
    uint32_t hash = 2166136261u ^ salt;
    for (; *identity; identity++)
        hash = (hash ^ (unsigned char)*identity) * 16777619u;
    return (int)(hash & INT32_MAX);
}

static struct team split_team(const struct team *team, int colour) {
    struct team part = {.comm = MPI_COMM_NULL};
    abort_on_error(MPI_Comm_split(team->comm, colour, team->rank, &part.comm), "MPI_Comm_split");
    if (part.comm != MPI_COMM_NULL) {
        abort_on_error(MPI_Comm_rank(part.comm, &part.rank), "MPI_Comm_rank");
        abort_on_error(MPI_Comm_size(part.comm, &part.ranks), "MPI_Comm_size");
    }
    return part;
}

static bool share_a_colour(const struct team *team, const struct team *readers, const char *identity) {
    char theirs[IDENTITY_BYTES] = "";
    strncpy(theirs, identity, sizeof theirs - 1);
    tree_broadcast(readers, theirs, sizeof theirs);
    return !tree_agree(team, strncmp(theirs, identity, sizeof theirs - 1) == 0);
}

void reset_clock(struct clock *clock) {
    clock->count = 0;
    clock->drift = 0;
    clock->drift_bound = clock->drift_likely = UNKNOWN_DRIFT;
    clock->worst_bound_ns = 0;
    clock->worst_drift = clock->worst_drift_bound = 2 * UNKNOWN_DRIFT;
}

/* The ranks with the same identity. Different identities may get the same colour (with ten thousand, in one of fifty
 * cases); then all get new colours, with another salt. */
static struct team split_by_identity(const struct team *team, const char *identity) {
    for (uint32_t salt = 0;; salt++) {
        struct team part = split_team(team, hash_identity(identity, salt));
        if (!share_a_colour(team, &part, identity))
            return part;
        abort_on_error(MPI_Comm_free(&part.comm), "MPI_Comm_free");
    }
}

struct clock *make_clock(const struct team *team, const char *identity, int64_t step_ns) {
    struct clock *clock = obtain_memory(sizeof *clock);
    *clock = (struct clock){.readers = split_by_identity(team, identity), .step_ns = step_ns};
    reset_clock(clock);
    clock->clocks = split_team(team, clock->readers.rank == 0 ? 0 : MPI_UNDEFINED);
    clock->clocks.clock = clock;
    clock->number_of_clocks = clock->clocks.ranks;
    tree_broadcast(&clock->readers, &clock->number_of_clocks, sizeof clock->number_of_clocks);
    clock->is_first = clock->clocks.comm != MPI_COMM_NULL && clock->clocks.rank == 0;
    tree_broadcast(&clock->readers, &clock->is_first, sizeof clock->is_first);
    return clock;
}

void free_clock(struct clock *clock) {
    if (clock->clocks.comm != MPI_COMM_NULL)
        abort_on_error(MPI_Comm_free(&clock->clocks.comm), "MPI_Comm_free");
    abort_on_error(MPI_Comm_free(&clock->readers.comm), "MPI_Comm_free");
    free(clock->marks);
    free(clock);
}

/* --- synchronising --- */

static const struct mark *find_newest(const struct clock *clock) {
    return &clock->marks[clock->count - 1];
}

static void estimate_drift(struct clock *clock) {
    const struct point *now = &find_newest(clock)->point;
    clock->drift = 0;
    clock->drift_bound = clock->drift_likely = clock->is_first ? 0 : UNKNOWN_DRIFT;
    for (int i = clock->count - 2; i >= 0; i--) {
        const struct point *then = &clock->marks[i].point;
        const double passed_ns = (double)(now->at_ns - then->at_ns);
        const double bound = (double)(now->bound_ns + then->bound_ns) / passed_ns + WANDER;
        const double moved_ns = fabs((double)(now->offset_ns - then->offset_ns));
        if (passed_ns > HORIZON_S * 1e9 || moved_ns > IMPOSSIBLE_DRIFT * passed_ns + (double)(now->bound_ns + then->bound_ns))
            break;
        if (bound < clock->drift_bound) {
            clock->drift = (double)(now->offset_ns - then->offset_ns) / passed_ns;
            clock->drift_bound = bound;
            clock->drift_likely = fmin(bound, hypot(now->likely_ns, then->likely_ns) / passed_ns + WANDER);
        }
    }
}

static void add_point(struct clock *clock, struct point point) {
    int64_t surprise_ns = 0;
    if (clock->count > 0 && point.at_ns <= find_newest(clock)->point.at_ns)
        clock->count = 0; /* The clock was set back: earlier points are useless. */
    if (clock->count > 1)
        surprise_ns = llabs(point.offset_ns - (int64_t)llround(predict_offset(clock, point.at_ns).offset_ns));
    if (clock->count == clock->room) {
        clock->room = 2 * clock->room + KEPT;
        clock->marks = extend_memory(clock->marks, sizeof *clock->marks * (size_t)clock->room);
    }
    clock->marks[clock->count++] = (struct mark){point, surprise_ns};
    estimate_drift(clock);
}

void drop_old_marks(struct clock *clock) {
    if (clock->count <= KEPT)
        return;
    memmove(clock->marks, clock->marks + clock->count - KEPT, sizeof *clock->marks * KEPT);
    clock->count = KEPT;
}

struct worst {
    int64_t bound_ns;
    double drift;
    double drift_bound;
};

static void merge_worst(void *into, const void *from, int bytes) {
    (void)bytes;
    struct worst *local = into;
    const struct worst *theirs = from;
    local->bound_ns = max(local->bound_ns, theirs->bound_ns);
    local->drift = fmax(local->drift, theirs->drift);
    local->drift_bound = fmax(local->drift_bound, theirs->drift_bound);
}

/* Two clocks drift apart at most by the sum of their drifts against rank 0. Ranks that are done wait patiently, since
 * others may still exchange messages and need the cores. */
static void agree_on_worst(struct clock *clock) {
    const bool exact = clock->clocks.rank == 0;
    struct worst worst = {
        .bound_ns = find_newest(clock)->point.bound_ns,
        .drift = exact ? 0 : fabs(clock->drift) + clock->drift_bound,
        .drift_bound = exact ? 0 : clock->drift_bound,
    };
    tree_combine_patient(&clock->clocks, &worst, sizeof worst, merge_worst);
    tree_broadcast_patient(&clock->clocks, &worst, sizeof worst);
    clock->worst_bound_ns = worst.bound_ns;
    clock->worst_drift = 2 * worst.drift;
    clock->worst_drift_bound = 2 * worst.drift_bound;
}

static void synchronise_once(struct clock *clock, const struct source *source, const struct synchronisation *method) {
    struct point point = {0};
    const bool compares = clock->clocks.comm != MPI_COMM_NULL;
    if (compares)
        point = method->run(&clock->clocks, source);
    tree_broadcast_patient(&clock->readers, &point, sizeof point);
    add_point(clock, point);
    if (compares)
        agree_on_worst(clock);
}

/* The first time clocks are synchronised twice, to learn the drift. */
void synchronise(const struct team *team, const struct source *source, const struct synchronisation *method) {
    const struct timespec nap = {.tv_nsec = BASELINE_NS};
    struct clock *clock = team->clock;
    if (clock->number_of_clocks == 1)
        return;
    if (clock->count == 0) {
        synchronise_once(clock, source, method);
        give_progress(&clock->readers);
        nanosleep(&nap, NULL);
    }
    synchronise_once(clock, source, method);
}

/* --- what is known of the offset --- */

struct point extrapolate_point(const struct clock *clock, struct point point, int64_t at_ns) {
    const double passed_ns = (double)(at_ns - point.at_ns);
    return (struct point){
        .at_ns = at_ns,
        .offset_ns = point.offset_ns + llround(clock->drift * passed_ns),
        .bound_ns = point.bound_ns + (int64_t)ceil(clock->drift_bound * fabs(passed_ns)),
        .likely_ns = hypot(point.likely_ns, clock->drift_likely * passed_ns),
    };
}

struct reading predict_offset(const struct clock *clock, int64_t local_ns) {
    if (clock->count == 0)
        return (struct reading){0};
    const struct point *last = &find_newest(clock)->point;
    const double passed_ns = (double)(local_ns - last->at_ns);
    return (struct reading){
        .offset_ns = (double)last->offset_ns + clock->drift * passed_ns,
        .bound_ns = (double)last->bound_ns + clock->drift_bound * fabs(passed_ns),
        .likely_ns = hypot(last->likely_ns, clock->drift_likely * passed_ns),
    };
}

/* The number of synchronisations up to a time. */
static int count_marks_before(const struct clock *clock, int64_t local_ns) {
    int low = 0, high = clock->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (clock->marks[middle].point.at_ns <= local_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct reading find_offset(const struct clock *clock, int64_t local_ns) {
    const int place = count_marks_before(clock, local_ns);
    if (place == clock->count || place == 0)
        return predict_offset(clock, local_ns);
    const struct point *from = &clock->marks[place - 1].point, *to = &clock->marks[place].point;
    const double share = (double)(local_ns - from->at_ns) / (double)(to->at_ns - from->at_ns);
    const double surprise_ns = (double)clock->marks[place].surprise_ns * share;
    const double bent_ns = surprise_ns * (1 - share); /* if the drift changes evenly */
    return (struct reading){
        .offset_ns = (1 - share) * (double)from->offset_ns + share * (double)to->offset_ns,
        .bound_ns = (1 - share) * (double)from->bound_ns + share * (double)to->bound_ns + surprise_ns,
        .likely_ns = hypot(hypot((1 - share) * from->likely_ns, share * to->likely_ns), bent_ns),
    };
}

int64_t find_local_ns(const struct clock *clock, int64_t common_ns) {
    if (clock->count == 0)
        return common_ns;
    const int64_t nearly_ns = common_ns + find_newest(clock)->point.offset_ns;
    return common_ns + (int64_t)llround(predict_offset(clock, nearly_ns).offset_ns);
}

int64_t find_most_drift_ns(const struct clock *clock, int64_t time_ns) {
    return (int64_t)ceil(clock->worst_drift * fabs((double)time_ns));
}

bool is_stale(const struct clock *clock, int64_t local_ns, double call_ns) {
    if (clock->number_of_clocks == 1)
        return false;
    if (clock->count == 0)
        return true;
    const int64_t passed_ns = local_ns - find_newest(clock)->point.at_ns;
    const double drifted_ns = clock->worst_drift_bound * (double)passed_ns;
    return passed_ns < 0 || drifted_ns > fmax((double)clock->worst_bound_ns, HARMLESS * call_ns);
}
