/* Comparing two clocks by exchanging messages.
 *
 *   asks     before ----------\                 /---------- after          own clock
 *   answers                    \---- theirs ---/                           other clock
 *
 * `theirs` was read between `before` and `after`, so the other clock leads by theirs - after to theirs - before, however
 * asymmetric the two ways are. Each exchange gives such an interval, and the lead is in all of them: a fast way out in one
 * exchange and a fast way back in another narrow it from both sides. Clocks may drift during the comparison, so an older
 * interval is first widened by the largest possible drift.
 *
 * The middle of an interval is exact if both ways take equally long. Random errors show in the scatter of the middles of
 * the fastest exchanges. A systematic asymmetry does not show. */
#include "sync/exchange.h"

#include <math.h>

#include "base/tree.h"
#include "sync/clock.h"

enum { TAG_ASK = 7101, TAG_TELL, TAG_POINT, PATIENCE = 100, MOST_EXCHANGES = 10000, QUICKEST = 5 };

/* Assumed asymmetry of the fastest round trip as a share of it, at most, for 19 of 20 pairs of ranks. */
static const double LOPSIDED = 0.1;

/* Each reading may be wrong by a step of the clock. */
static struct lead exchange_readings(const struct team *clocks, const struct source *source, int rank,
                                     receive_function *receive) {
    int64_t theirs_ns;
    char more = 1;
    const int64_t before_ns = source->read_ns();
    send_bytes(clocks, &more, 1, rank, TAG_ASK);
    receive(clocks, &theirs_ns, sizeof theirs_ns, rank, TAG_TELL);
    const int64_t after_ns = source->read_ns();
    return (struct lead){
        .at_ns = before_ns + (after_ns - before_ns) / 2,
        .least_ns = theirs_ns - after_ns - clocks->clock->step_ns,
        .most_ns = theirs_ns - before_ns + clocks->clock->step_ns,
    };
}

static int64_t find_width(struct lead lead) {
    return lead.most_ns - lead.least_ns;
}

/* The intersection of an older and a new interval. If it is empty, a clock was set: the new one counts. */
static struct lead intersect(const struct clock *clock, struct lead older, struct lead now) {
    const int64_t apart_ns = find_most_drift_ns(clock, now.at_ns - older.at_ns);
    struct lead common = now;
    if (older.least_ns - apart_ns > common.least_ns)
        common.least_ns = older.least_ns - apart_ns;
    if (older.most_ns + apart_ns < common.most_ns)
        common.most_ns = older.most_ns + apart_ns;
    return find_width(common) < 0 ? now : common;
}

static int64_t find_middle(struct lead lead) {
    return lead.least_ns + find_width(lead) / 2;
}

/* The fastest exchanges so far, the fastest first. */
struct quickest {
    struct lead leads[QUICKEST];
    int count;
};

static void insert_quickest(struct quickest *quickest, struct lead now) {
    struct lead *const leads = quickest->leads;
    int place = quickest->count < QUICKEST ? quickest->count++ : QUICKEST;
    for (; place > 0 && find_width(now) < find_width(leads[place - 1]); place--)
        if (place < QUICKEST)
            leads[place] = leads[place - 1];
    if (place < QUICKEST)
        leads[place] = now;
}

/* The range of five normal samples is 2.3 standard deviations: about a 95% range of one of them. */
static double estimate_error(const struct quickest *quickest, struct lead chosen_lead) {
    int64_t lowest_ns = find_middle(chosen_lead), highest_ns = lowest_ns;
    for (int i = 0; i < quickest->count; i++) {
        const int64_t middle_ns = find_middle(quickest->leads[i]);
        lowest_ns = middle_ns < lowest_ns ? middle_ns : lowest_ns;
        highest_ns = middle_ns > highest_ns ? middle_ns : highest_ns;
    }
    const double half_ns = (double)(find_width(chosen_lead) + 1) / 2;
    return fmin(half_ns, hypot((double)(highest_ns - lowest_ns), LOPSIDED * half_ns));
}

/* The first answer may take long, while the other rank is busy with others: it is awaited patiently. */
struct lead compare_with(const struct team *clocks, const struct source *source, int rank, enum use use) {
    char more = 0;
    struct lead all = exchange_readings(clocks, source, rank, receive_bytes_patiently);
    struct quickest quickest = {.leads = {all}, .count = 1};
    for (int idle = 0, new_comm = 1; idle < PATIENCE && new_comm < MOST_EXCHANGES; idle++, new_comm++) {
        const struct lead now = exchange_readings(clocks, source, rank, receive_bytes);
        all = intersect(clocks->clock, all, now);
        if (find_width(now) < find_width(quickest.leads[0]))
            idle = 0;
        insert_quickest(&quickest, now);
    }
    send_bytes(clocks, &more, 1, rank, TAG_ASK);
    struct lead chosen_lead = use == ALL_EXCHANGES ? all : quickest.leads[0];
    chosen_lead.likely_ns = estimate_error(&quickest, chosen_lead);
    return chosen_lead;
}

void answer_comparisons(const struct team *clocks, const struct source *source, int rank) {
    char more;
    receive_bytes_patiently(clocks, &more, 1, rank, TAG_ASK);
    while (more) {
        const int64_t mine_ns = source->read_ns();
        send_bytes(clocks, &mine_ns, sizeof mine_ns, rank, TAG_TELL);
        receive_bytes(clocks, &more, 1, rank, TAG_ASK);
    }
}

/* Bounds add up; estimated errors of independent comparisons add up in squares. */
struct point find_own_point(struct point other, struct lead lead) {
    return (struct point){lead.at_ns, other.offset_ns - find_middle(lead), other.bound_ns + (find_width(lead) + 1) / 2,
                          hypot(other.likely_ns, lead.likely_ns)};
}

struct point find_other_point(struct point local, struct lead lead) {
    return (struct point){lead.at_ns + find_middle(lead), local.offset_ns + find_middle(lead),
                          local.bound_ns + (find_width(lead) + 1) / 2, hypot(local.likely_ns, lead.likely_ns)};
}

void send_point(const struct team *clocks, struct point point, int rank) {
    send_bytes(clocks, &point, sizeof point, rank, TAG_POINT);
}

struct point receive_point(const struct team *clocks, int rank) {
    struct point point;
    receive_bytes_patiently(clocks, &point, sizeof point, rank, TAG_POINT);
    return point;
}
