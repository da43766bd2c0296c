/* The pace of a case. One call that lost its CPU must not set windows and tolerance of a whole case: estimates are
 * lower quartiles of the warm-up, and every stage can only lower them. */
#include "timing/pace.h"

#include <math.h>
#include <string.h>

#include "base/numbers.h"

enum { FEW_ROUNDS = 8, MOST_WARM_ROUNDS = MOST_STAGE / 2, LEAST_WARM_UP_NS = 1000000 };
/* If connections exist, and only caches must be filled, the warm-up is shorter by this factor. */
enum { AGAIN_SHORTER = 4 };
/* Least number of runs that send many messages. */
enum { FEW_LONG_ROUNDS = 3 };
/* A margin that shrinks slowly suffices for all but some 4% of the stages: ln(32/31) / ln 2. */
enum { FIRST_MARGIN_NS = 20000, MOST_MARGIN_NS = 50000000, MARGIN_SHRINKS_BY = 32, FIRST_SLACK_NS = 3000 };
/* After longer calls, traces of messages in caches and queues do not matter. */
enum { LONG_NS = 1000000, LEAST_TOLERANCE_NS = 100 };
/* Rounds of which one median is compared, rounds of the shortest stage in which this is done, and how long rounds that are
 * not recorded may take in a stage. A stage has settled if the median differs by less than this share. */
enum { SETTLING_ROUNDS = 8, LEAST_SETTLING_ROUNDS = 16, MOST_SETTLING_NS = 200000 };
static const double SETTLED_SHARE = 0.05;
/* Share of the time limit for the warm-up, by its estimate and by the clock. */
static const double WARM_UP_SHARE = 0.1, MOST_WARM_UP_SHARE = 0.5;
/* A round may begin late by a few readings of the clock, or by a share of its time. */
static const double TOLERANCE_SHARE = 0.02, TOLERANCE_READINGS = 3;
/* Rounds are used if the tolerance is at most this share of the median time, or this multiple of the least tolerance of
 * the clock. */
static const double MOST_TOLERANCE_SHARE = 0.05, MOST_TOLERANCE_FLOORS = 2;
/* Share of rounds that may be lost because ranks are in different windows. */
static const double LOST_SHARE = 0.02;
/* Prior: ranks drifted apart once in this number of rounds. */
enum { ROUNDS_BEFORE = 800 };
/* Delay that a rank can make up for in a rest: an interrupt, not the loss of its CPU to another process. */
enum { REST_NS = 5000, LEAST_REST = 2 };
/* Rounds of a trial of the pace: half a dozen short stages. It fails if fewer rounds than this share are valid, and ranks
 * part after the first round of more than this share of the stages. */
enum { TRIAL_ROUNDS = 6 * FEW_ROUNDS };
static const double LEAST_VALID_SHARE = 1.0 / 32, MOST_PARTED_SHARE = 0.5;
/* First, least and most window relative to the call, beside a constant for the work between calls. In a window shorter
 * than the call, ranks that do not wait for each other drift apart. */
static const double WINDOWS = 1.5, LEAST_WINDOWS = 1.1, MOST_WINDOWS = 4;
enum { BETWEEN_NS = 500, LEAST_BETWEEN_NS = 250, MOST_BETWEEN_NS = 2000, MORE_BETWEEN_NS = 1000, WINDOW_SHRINKS_BY = 16 };

/* The value below a share of times that are not sorted. */
static double find_lower(const double *times_ns, int count, double share) {
    double sorted[MOST_STAGE];
    memcpy(sorted, times_ns, sizeof *times_ns * (size_t)count);
    sort_values(sorted, count);
    return sorted[(int)(share * (count - 1))];
}

/* --- begin of a stage --- */

static double find_middle(const double *times_ns, int count) {
    return (find_lower(times_ns, count, 0.34) + find_lower(times_ns, count, 0.67)) / 2;
}

/* Counts the first rounds of a stage that differ from its second half: the messages before them leave traces in caches and
 * queues, for one library more than for another. */
static int32_t count_unsettled(const double *times_ns, int count) {
    if (count < LEAST_SETTLING_ROUNDS)
        return 0;
    const double usual_ns = find_middle(times_ns + count / 2, count - count / 2);
    int32_t rounds = 0;
    while (rounds + SETTLING_ROUNDS <= count / 2 &&
           fabs(find_middle(times_ns + rounds, SETTLING_ROUNDS) - usual_ns) > SETTLED_SHARE * usual_ns)
        rounds += SETTLING_ROUNDS;
    return rounds;
}

static void add_unsettled(struct pace *pace, int32_t rounds) {
    const int64_t most = (int64_t)(MOST_SETTLING_NS / (pace->estimate_ns + 1));
    pace->unsettled = (int32_t)clamp(fmax(pace->unsettled, rounds), 0, min(most, MOST_LEAD));
}

/* --- warm-up --- */

static int find_warm_up_divisor(const struct pace *pace) {
    return pace->last.good ? AGAIN_SHORTER : 1;
}

/* A run of many messages warms up as many short ones. */
static int find_few_rounds(const struct pace *pace) {
    return pace->messages >= FEW_ROUNDS ? FEW_LONG_ROUNDS : FEW_ROUNDS;
}

static void take_warm_ups(struct pace *pace, const double *times_ns, int count) {
    const double lower_ns = find_lower(times_ns, count, 0.25);
    const bool few = count < FEW_ROUNDS && pace->warm_ups > 0;
    pace->estimate_ns = few ? fmin(pace->estimate_ns, lower_ns) : lower_ns;
    pace->longest_ns = find_lower(times_ns, count, 1);
    pace->warm_ups += count;
}

/* Time is counted by the estimate, so that an interruption does not end the warm-up of short calls; a long call is made
 * twice. */
static bool has_spent(const struct pace *pace, double spent_ns, double limit_ns) {
    const double calls_ns = pace->estimate_ns * (double)pace->warm_ups;
    const bool long_calls = calls_ns > WARM_UP_SHARE * limit_ns || spent_ns > MOST_WARM_UP_SHARE * limit_ns;
    const double enough_ns = WARM_UP_SHARE * limit_ns / find_warm_up_divisor(pace);
    return pace->warm_ups >= find_few_rounds(pace) ? spent_ns > enough_ns : pace->warm_ups > 1 && long_calls;
}

int warm_pace(struct pace *pace, const double *times_ns, int count, double spent_ns, double limit_ns) {
    const double before_ns = pace->estimate_ns;
    take_warm_ups(pace, times_ns, count);
    pace->unsettled = pace->last.unsettled;
    add_unsettled(pace, count_unsettled(times_ns, count));
    const bool many = count >= (pace->last.good ? FEW_ROUNDS : MOST_WARM_ROUNDS) &&
                      spent_ns > (double)LEAST_WARM_UP_NS / find_warm_up_divisor(pace);
    const bool settled = many && pace->estimate_ns > 0.9 * before_ns;
    if (settled || has_spent(pace, spent_ns, limit_ns))
        return 0;
    const bool again = pace->warm_ups == 1 && pace->estimate_ns > WARM_UP_SHARE / 2 * limit_ns;
    return again ? 1 : count < MOST_WARM_ROUNDS ? 2 * count : MOST_WARM_ROUNDS;
}

/* --- stages --- */

/* Windows are longer by the arrival spread and a quarter, so that late ranks can catch up, and by the gap. */
static int64_t find_arrival_ns(const struct pacing *pacing) {
    return pacing->spread_ns + pacing->spread_ns / 4 + pacing->gap_ns;
}

static int64_t find_window_ns(const struct pace *pace, const struct pacing *pacing, double calls, int64_t between_ns) {
    between_ns += pace->longer_windows ? MORE_BETWEEN_NS : 0;
    return find_arrival_ns(pacing) + (int64_t)(calls * pace->estimate_ns) + between_ns;
}

/* The tolerance that the clock itself requires. */
static double find_least_tolerance_ns(const struct pacing *pacing) {
    return fmax(LEAST_TOLERANCE_NS, TOLERANCE_READINGS * pacing->cost_ns + pacing->step_ns);
}

/* Derives tolerance and lead from the estimate. */
static void update_tolerance(struct pace *pace, const struct pacing *pacing) {
    pace->tolerance_ns = (int64_t)fmax(find_least_tolerance_ns(pacing), TOLERANCE_SHARE * pace->estimate_ns);
    const int least = pace->estimate_ns > LONG_NS ? 0 : pacing->lead;
    pace->lead = pacing->fixed_rounds ? pacing->lead : pace->unsettled > least ? pace->unsettled : least;
}

static int32_t find_rest(const struct pace *pace) {
    return (int32_t)(REST_NS / (pace->window_ns + 1)) + LEAST_REST;
}

void begin_pace(struct pace *pace, const struct pacing *pacing) {
    update_tolerance(pace, pacing);
    pace->margin_ns = FIRST_MARGIN_NS;
    pace->rounds = pacing->fixed_rounds ? pacing->fixed_rounds : FEW_ROUNDS;
    pace->slack_ns = pacing->agrees ? FIRST_SLACK_NS : 0;
    pace->group = (int32_t)(2 * LOST_SHARE * ROUNDS_BEFORE);
    pace->rest = find_rest(pace);
    pace->window_ns = pacing->fixed_rounds ? find_arrival_ns(pacing) + (int64_t)pace->longest_ns
                                           : find_window_ns(pace, pacing, WINDOWS, BETWEEN_NS);
}

/* The time that the instructions for a stage need to reach all ranks: doubled if they were late, else slowly reduced,
 * since one interruption says little about the next stage. */
static int64_t find_next_margin_ns(int64_t margin_ns, bool late) {
    return clamp((double)(late ? 2 * margin_ns : margin_ns - margin_ns / MARGIN_SHRINKS_BY), FIRST_MARGIN_NS, MOST_MARGIN_NS);
}

/* Windows and slack grow if more than a few rounds were missed by ranks that had not arrived, up to a limit, and shrink
 * if none was. A rank that arrived in time and lost its CPU while waiting does not count: no window is long enough for
 * that. */
static int64_t find_next_ns(const struct pacing *pacing, int64_t time_ns, const struct course *course, int64_t least_ns,
                            int64_t most_ns) {
    if (course->skipped == 0)
        return clamp((double)(time_ns - time_ns / WINDOW_SHRINKS_BY), least_ns, most_ns);
    const bool grows = course->rounds >= FEW_ROUNDS && course->skipped > pacing->bad_share * course->rounds;
    return clamp(grows ? pacing->growth * (double)time_ns : (double)time_ns, least_ns, most_ns);
}

static int64_t find_next_window_ns(const struct pace *pace, const struct pacing *pacing, const struct course *course) {
    const int64_t least_ns = find_window_ns(pace, pacing, LEAST_WINDOWS, LEAST_BETWEEN_NS);
    const int64_t most_ns = find_window_ns(pace, pacing, MOST_WINDOWS, MOST_BETWEEN_NS);
    if (pacing->fixed_rounds)
        return find_next_ns(pacing, pace->window_ns, course, pace->window_ns, INT64_MAX / 2);
    return find_next_ns(pacing, pace->window_ns, course, least_ns, most_ns);
}

static int32_t find_next_rounds(const struct pace *pace, const struct course *course) {
    const bool apart = course->late > course->rounds / 4;
    return (int32_t)clamp(apart ? pace->rounds / 2 : 2 * pace->rounds, FEW_ROUNDS, MOST_STAGE);
}

/* A rank that is interrupted takes a later window than the others. Unless the operation delays them, too, it stays
 * behind until all rest. So the frequency of rests follows from that of such events. */
static void update_rests(struct pace *pace, const struct course *course) {
    pace->timed += course->rounds;
    pace->partings += course->partings;
    const double apart = (double)(ROUNDS_BEFORE + pace->timed) / (double)(1 + pace->partings);
    pace->group = (int32_t)clamp(2 * LOST_SHARE * apart, FEW_ROUNDS, MOST_STAGE);
    pace->rest = find_rest(pace);
}

/* If ranks part after the first call of nearly every stage, and hardly any round is valid, either windows are too short,
 * or the library keeps messages of a call until the next one, as it may: MPI guarantees progress inside its calls only.
 * So windows become longer first. If this does not help, all ranks call MPI after each round, as no other library needs. */
static void update_trial(struct pace *pace, const struct course *course) {
    struct trial *trial = &pace->trial;
    trial->rounds += course->rounds;
    trial->valid += course->valid;
    trial->stages++;
    trial->parted_at_once += course->second_late && !course->first_late;
    if (trial->rounds < TRIAL_ROUNDS || pace->calls_between)
        return;
    if (trial->valid < LEAST_VALID_SHARE * trial->rounds && trial->parted_at_once > MOST_PARTED_SHARE * trial->stages) {
        pace->calls_between = pace->longer_windows;
        pace->longer_windows = true;
    }
    *trial = (struct trial){0};
}

bool update_pace(struct pace *pace, const struct pacing *pacing, const struct course *course) {
    const int64_t before_ns = pace->tolerance_ns;
    const int32_t unsettled = count_unsettled(course->times_ns, course->valid);
    if (unsettled > 0)
        add_unsettled(pace, pace->lead + unsettled);
    if (course->valid > 0)
        pace->estimate_ns = fmin(pace->estimate_ns, find_lower(course->times_ns, course->valid, 0.5));
    update_tolerance(pace, pacing);
    pace->margin_ns = find_next_margin_ns(pace->margin_ns, course->first_late);
    pace->rounds = pacing->fixed_rounds ? pacing->fixed_rounds : find_next_rounds(pace, course);
    update_rests(pace, course);
    update_trial(pace, course);
    if (pacing->scheduled)
        pace->window_ns = find_next_window_ns(pace, pacing, course);
    if (pacing->agrees)
        pace->slack_ns = find_next_ns(pacing, pace->slack_ns, course, FIRST_SLACK_NS, MOST_MARGIN_NS);
    return pace->tolerance_ns < before_ns;
}

bool is_tolerable(const struct pace *pace, const struct pacing *pacing, double middle_ns) {
    const double most_ns = fmax(MOST_TOLERANCE_SHARE * middle_ns, MOST_TOLERANCE_FLOORS * find_least_tolerance_ns(pacing));
    return (double)pace->tolerance_ns <= most_ns;
}
