#define _GNU_SOURCE
#include "case/quantities.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/allocation.h"
#include "base/printing.h"
#include "base/process.h"
#include "base/startup.h"
#include "base/steady.h"
#include "base/time_parts.h"
#include "base/tree.h"
#include "sync/clock.h"
#include "sync/facts.h"
#include "timing/overlap.h"
#include "timing/rounds.h"
#include "timing/steering.h"
#include "timing/stop.h"
#include "verify/check.h"
#include "verify/rehearsal.h"
#include "verify/timed.h"

static int64_t find_offset_change(const struct clock *clock, const struct measurement *measurement) {
    if (measurement->sample_count == 0)
        return 0;
    const double first_ns = find_offset(clock, measurement->moments[0].begin_ns).offset_ns;
    const double last_ns = find_offset(clock, measurement->moments[measurement->sample_count - 1].end_ns).offset_ns;
    return llround(fabs(last_ns - first_ns));
}

bool allocate_samples(struct measurement *measurement, const struct stop *stop, bool leads) {
    measurement->capacity = count_most_tries(stop) + MOST_STAGE;
    measurement->moments = try_memory(sizeof *measurement->moments * (size_t)measurement->capacity);
    if (leads)
        measurement->samples = try_memory(sizeof *measurement->samples * (size_t)measurement->capacity);
    return measurement->moments && (measurement->samples || !leads);
}

void note_no_memory(struct outcome *outcome, const struct measurement *measurement) {
    note(outcome, REFUSED, "rank %d: the system gave no memory for %lld samples", outcome->rank,
         (long long)measurement->capacity);
}

static void free_samples(struct measurement *measurement) {
    free(measurement->samples);
    free(measurement->moments);
}

/* Measures a median. */
static double measure_median(const struct setting *setting, const struct timing *timing, int (*run)(struct call *)) {
    struct measurement measurement = {.sample_count = 0};
    struct timing other = *timing;
    double median = 0;
    other.run = run;
    if (!allocate_samples(&measurement, timing->stop, timing->team->rank == 0))
        note_no_memory(setting->outcome, &measurement);
    if (all_ranks_good(setting->team, setting->outcome)) {
        note_code(setting->outcome, measure(&other, &measurement), setting->plan->operation->name);
        if (timing->team->rank == 0)
            median = find_median_ns(&other, &measurement);
    }
    tree_broadcast(timing->team, &median, sizeof median);
    free_samples(&measurement);
    return median;
}

/* --- what measuring costs --- */

/* The cost is a median over the first visits, since one visit may be disturbed. */
enum { MOST_COSTS = 64, COST_SAMPLES = 200, COST_VISITS = 9 };
static const double COST_LIMIT_S = 0.02;

static struct cost {
    const struct start *start;
    int ranks;
    bool alone;
    /* In order of size. */
    double ns[COST_VISITS];
    int visits;
} costs[MOST_COSTS];
static int known_costs;

static int run_nothing(struct call *call) {
    (void)call;
    return MPI_SUCCESS;
}

static struct cost *find_cost(const struct timing *timing) {
    const struct cost wanted = {
        .start = timing->start, .ranks = timing->team->ranks, .alone = timing->operation->timing.rank_0_measures};
    for (int i = 0; i < known_costs; i++)
        if (costs[i].start == wanted.start && costs[i].ranks == wanted.ranks && costs[i].alone == wanted.alone)
            return &costs[i];
    if (known_costs == MOST_COSTS)
        return NULL;
    costs[known_costs] = wanted;
    return &costs[known_costs++];
}

static void keep_cost(struct cost *cost, double ns) {
    int place = cost->visits++;
    for (; place > 0 && cost->ns[place - 1] > ns; place--)
        cost->ns[place] = cost->ns[place - 1];
    cost->ns[place] = ns;
}

/* The measured time of a call that does nothing, with the same start and number of ranks: measured at the first visits
 * of a launch, and stored. Every rank calls in the same order, so that all store the same. */
static double measure_sample_cost(const struct setting *setting, const struct timing *timing) {
    const bool alone = timing->operation->timing.rank_0_measures;
    struct cost *cost = find_cost(timing);
    if (cost && cost->visits == COST_VISITS)
        return cost->ns[COST_VISITS / 2];
    /* The hook after each round keeps the core from timing several calls at once. */
    const struct operation nothing = {.name = "nothing",
                                      .kind = KIND_SELF_TEST,
                                      .metric = METRIC_TIME,
                                      .timing.rank_0_measures = alone,
                                      .hooks.after = run_nothing};
    const struct stop stop = {.samples = COST_SAMPLES, .limit_s = COST_LIMIT_S};
    struct buffers none = {.slots = 1};
    struct timing other = *timing;
    other.operation = &nothing;
    other.stop = &stop;
    other.buffers = &none;
    other.checks = NULL;
    other.rounds = other.legs = 1;
    other.long_ns = 0;
    other.spread_ns = other.gap_ns = 0;
    other.compares = false;
    hold_part(PART_COST);
    const double ns = measure_median(setting, &other, run_nothing);
    release_part(PART_CHECK);
    if (!cost || ns <= 0)
        return ns;
    keep_cost(cost, ns);
    return cost->ns[cost->visits / 2];
}

/* Cost per sample. */
static double find_cost_ns(const struct setting *setting, const struct timing *timing, int repeats) {
    return measure_sample_cost(setting, timing) / (repeats * timing->rounds * timing->legs);
}

/* --- times --- */

/* The communication alone, a computation of the same length, and both together. */
static int measure_overlap(const struct setting *setting, const struct timing *timing, struct result *result) {
    struct worker *worker = setting->workers;
    struct stop stop = *timing->stop;
    struct timing part = *timing;
    const double asked_ns = (double)read_case_choice(setting, &compute_choice) * 1000;
    stop.limit_s /= 3;
    part.stop = &stop;
    result->pure_ns = measure_median(setting, &part, timing->run);
    worker->work.steps = count_steps(asked_ns > 0 ? asked_ns : result->pure_ns, setting->world->source->read_ns);
    worker->work.parts = (int)read_case_choice(setting, &tests_choice) + 1;
    worker->call.work = &worker->work;
    part.checks = NULL;
    result->compute_ns = measure_median(setting, &part, run_computation);
    part.checks = timing->checks;
    part.run = run_overlapped;
    return measure(&part, &result->measurement);
}

/* If the clock was set meanwhile, times are invalid. */
static void check_clock(const struct setting *setting, const struct twin_reading *before) {
    const struct source *source = setting->world->source;
    const int64_t jumped_ns = measure_jump_ns(before, source);
    if (jumped_ns != 0)
        note(setting->outcome, FAILED, "rank %d: %s was set %s by %.3f s during the case; clock=auto avoids this",
             setting->team->rank, source->name, jumped_ns < 0 ? "back" : "forward", fabs((double)jumped_ns) / 1e9);
}

/* --- what happened meanwhile --- */

static struct strain read_strain(void) {
    const int64_t waited_ns = read_waited_ns();
    return (struct strain){waited_ns, waited_ns < 0 ? 0 : read_steady_ns(), read_own_bytes()};
}

/* The most of all ranks that take part, on rank 0. */
static struct strain compare_strain(const struct team *team, const struct strain *before) {
    const struct strain now = read_strain();
    struct strain most = {0};
    if (!team->idle && now.timed_ns > 0)
        most = (struct strain){now.waited_ns - before->waited_ns, now.timed_ns - before->timed_ns, 0};
    if (!team->idle && now.leaked_bytes > before->leaked_bytes && before->leaked_bytes >= 0)
        most.leaked_bytes = now.leaked_bytes - before->leaked_bytes;
    tree_combine(team, &most, sizeof most, merge_largest);
    return most;
}

void time_case(const struct setting *setting, struct timing *timing, struct result *result) {
    struct outcome *outcome = setting->outcome;
    struct measurement *measurement = &result->measurement;
    const int cpu = sched_getcpu();
    const struct twin_reading before = read_both(setting->world->source);
    drop_old_marks(setting->team->clock);
    const int64_t began_ns = read_steady_ns();
    switch_part(PART_RENEW);
    renew_data(setting);
    dissemination_barrier(setting->team);
    timing->renewing_ns = (double)(read_steady_ns() - began_ns);
    timing->setting = setting;
    timing->checks = &timed_checks;
    timing->reference = repeats_data(setting) ? &setting->workers->reference : NULL;
    const struct written written = read_written();
    const struct strain strain = read_strain();
    const bool overlaps = read_case_choice(setting, &quantity_choice) == QUANTITY_OVERLAP;
    note_code(outcome, overlaps ? measure_overlap(setting, timing, result) : measure(timing, measurement),
              setting->plan->operation->name);
    outcome->printed_bytes = count_printed(&written);
    result->strain = compare_strain(setting->team, &strain);
    check_clock(setting, &before);
    outcome->drift_ns = setting->team->idle ? 0 : find_offset_change(setting->team->clock, measurement);
    outcome->moved_rank = setting->team->rank;
    outcome->moved_from = find_cpu_before(cpu);
    outcome->moved_to = sched_getcpu();
    outcome->migrated = outcome->moved_to != outcome->moved_from;
    if (!all_ranks_good(setting->team, outcome))
        return;
    switch_part(PART_CHECK);
    check_after_timing(setting, timing->long_ns);
    if (setting->threads == 1)
        result->cost_ns = find_cost_ns(setting, timing, measurement->repeats);
    if (setting->team->rank == 0 && measurement->valid == 0 && timing->start->scheduled)
        note_cause(outcome, REFUSED, "late-start",
                   "no round began in time on all ranks: more ranks than cores, a busy machine, or calls that end only when "
                   "others call MPI again; start=barrier needs no clock");
    else if (setting->team->rank == 0 && measurement->valid == 0)
        note_cause(outcome, REFUSED, "time-limit", "no round ended within the time limit");
}

/* --- single values --- */

bool has_single_value(const struct setting *setting) {
    return setting->plan->operation->hooks.read_once_ns || read_case_choice(setting, &quantity_choice) == QUANTITY_MEMORY;
}

void record_value(const struct setting *setting, const struct timing *timing, struct measurement *measurement) {
    if (read_case_choice(setting, &quantity_choice) == QUANTITY_MEMORY)
        record_single(timing, measurement, (double)(read_startup_bytes() + setting->outcome->growth_bytes));
    else
        record_single(timing, measurement, (double)setting->plan->operation->hooks.read_once_ns());
}
