/* Steering of the timing loop in rounds.c.
 *
 *   warm-up (not recorded)    stage                             stage
 *   |.. ........|  messages  |lead|r|r|r|r|r|r|r|r|  messages  |lead|r|r|r|r|...
 *
 * Within a stage ranks exchange only the messages of the operation. Between stages they merge their samples up a tree, and
 * rank 0 decides: stop, synchronise the clocks, or the start, windows and number of rounds of the next stage. The first
 * rounds of a stage are not recorded, since the messages before them leave traces in caches and queues. At the end, after
 * a last synchronisation, samples are made again from the rounds of every rank. */
#include "timing/steering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/registry.h"
#include "base/steady.h"
#include "base/time_parts.h"
#include "base/tree.h"
#include "kit/memory.h"
#include "request/request.h"
#include "sync/clock.h"
#include "sync/source.h"
#include "sync/world.h"
#include "timing/measurement.h"
#include "timing/pace.h"
#include "timing/rounds.h"
#include "timing/stop.h"
#include "timing/watchdog.h"

enum { MOST_REPEATS = 64, CHUNK = 1024, COARSE_NS = 100 };
/* Data are renewed after this number of calls, and then after this multiple of it. */
enum { FIRST_RENEWAL = 16, RENEWAL_GROWTH = 4 };
/* Largest share of a reading of the clock and of its step in a sample. */
static const double READING_SHARE = 0.01;
/* Largest share of the remaining time for renewing data. */
static const double RENEWAL_SHARE = 0.02;
/* A case of which too few rounds are valid may last this multiple of its time limit. */
static const double PATIENCE = 10;
/* Enough rounds: this many, of few rounds half, of many this share. As in statistics/estimators.py. */
enum { FEWEST_VALID = 10 };
static const double LEAST_SHARE = 0.1;

struct control {
    struct stage_plan stage_plan;
    struct stopping stopping;
    int64_t began_ns;
    struct pacing pacing;
    struct pace pace;
    /* Whether a rank's call returned an error; known on rank 0. */
    bool failed;
    /* Whether the tolerance became smaller after rounds had been judged by it. */
    bool tightened;
    /* Stages so far, and the stage after which data were renewed that are not checked yet; 0: none. */
    int32_t stages, renewed;
    /* Calls so far, and the number at which data are renewed next. */
    int64_t calls, next_renewal;
    /* Time of rounds before the last stage. */
    double rounds_before_s;
};

/* --- warm-up --- */

double find_median_ns(const struct timing *timing, const struct measurement *measurement) {
    int64_t count;
    double *const times = sort_valid_times(timing->start, measurement, &count);
    const double median = count ? times[count / 2] : 0;
    free(times);
    return median;
}

/* Times of runs: of all rounds, or of the valid ones. */
static int list_times(const struct timing *timing, const struct sample *samples, int count, bool all, double *times_ns) {
    int recorded = 0;
    for (int i = 0; i < count; i++)
        if (all || !is_discarded(timing->start, &samples[i]))
            times_ns[recorded++] = find_run_ns(timing, samples[i].time_ns);
    return recorded;
}

static int count_state(const struct sample *samples, int count, int state) {
    int rounds = 0;
    for (int i = 0; i < count; i++)
        rounds += (samples[i].state & state) != 0;
    return rounds;
}

/* Calls start after a barrier while their time is unknown; it determines the first window and the repeats. Stages have
 * 1, 2, 4 and more calls, so that long calls do not use up the time limit, and go on while calls become faster, since a
 * library may set up connections for long after the first message. */
static int warm_up(const struct timing *timing, struct control *control, struct sample *samples) {
    const struct start *start = timing->start->scheduled ? find_start("barrier") : timing->start;
    const int64_t began_ns = read_steady_ns();
    struct pace *pace = &control->pace;
    double times_ns[MOST_ROUNDS];
    int code = MPI_SUCCESS;
    pace->last = timing->last;
    pace->messages = timing->rounds * timing->call->window.messages;
    control->stage_plan = (struct stage_plan){.rounds = timing->long_ns > 0 ? 0 : 1, .repeats = 1};
    pace->estimate_ns = pace->longest_ns = timing->long_ns;
    while (control->stage_plan.rounds > 0) {
        const int rounds = control->stage_plan.rounds;
        watch_phase("is warmed up");
        code = first_error(code, time_stage(timing, start, &control->stage_plan, NULL, samples));
        control->failed |= count_state(samples, rounds, ROUND_FAILED) > 0;
        const double spent_ns = (double)(read_steady_ns() - began_ns);
        list_times(timing, samples, rounds, true, times_ns);
        control->stage_plan.rounds = warm_pace(pace, times_ns, rounds, spent_ns, timing->stop->limit_s * 1e9);
        tree_broadcast(timing->team, control, sizeof *control);
    }
    return code;
}

/* --- steering --- */

/* With a coarse clock, start times between its steps would be met late by up to a step. */
static int64_t round_to_step(const struct timing *timing, int64_t time_ns) {
    const int64_t step_ns = timing->team->clock->step_ns;
    return step_ns < COARSE_NS ? time_ns : (time_ns + step_ns - 1) / step_ns * step_ns;
}

static void count_sample(const struct timing *timing, struct stopping *stopping, struct measurement *into,
                         const struct sample *sample) {
    into->late += (sample->state & ROUND_LATE) != 0;
    into->overrun += !(sample->state & ROUND_LATE) && (sample->state & ROUND_OVERRUN);
    if (is_discarded(timing->start, sample))
        return;
    into->valid++;
    add_to_stopping(stopping, sample);
}

static int record_samples(const struct timing *timing, struct stopping *stopping, struct measurement *into,
                          const struct sample *samples, int count) {
    const int recorded = (int)clamp((double)(into->capacity - into->sample_count), 0, count);
    for (int i = 0; i < recorded; i++) {
        into->samples[into->sample_count + i] = samples[i];
        count_sample(timing, stopping, into, &samples[i]);
    }
    return recorded;
}

/* Judges the starts of all rounds by the present tolerance. Where ranks arrive late on purpose, each judges its own. */
static void judge_starts(const struct timing *timing, struct control *control, struct measurement *into, int64_t sample_count) {
    if (!timing->compares || timing->spread_ns > 0 || timing->start->rounds > 0)
        return;
    control->stopping = (struct stopping){.next_look = control->stopping.next_look};
    into->late = into->overrun = into->valid = 0;
    for (int64_t i = 0; i < sample_count; i++) {
        struct sample *sample = &into->samples[i];
        if ((double)(sample->last_ns - sample->common_ns) > (double)control->pace.tolerance_ns + sample->bound_ns)
            sample->state |= ROUND_LATE;
        count_sample(timing, &control->stopping, into, sample);
    }
}

/* Counts sequences of two or more late rounds: a single one was an interruption of a waiting rank. */
static int count_partings(const struct sample *samples, int count) {
    int partings = 0;
    for (int i = 1; i < count; i++) {
        const bool begins = i == 1 || !(samples[i - 2].state & ROUND_LATE);
        partings += begins && (samples[i - 1].state & samples[i].state & ROUND_LATE);
    }
    return partings;
}

static bool update_from_stage(const struct timing *timing, struct control *control, const struct sample *samples) {
    const struct sample *scored = samples + control->stage_plan.lead;
    const int rounds = control->stage_plan.rounds;
    const bool fixed = timing->start->rounds > 0;
    const int missed = fixed ? ROUND_LATE : ROUND_SKIPPED;
    double times_ns[MOST_ROUNDS];
    const struct course course = {
        .times_ns = times_ns,
        .valid = list_times(timing, scored, rounds, false, times_ns),
        .rounds = rounds,
        .skipped = count_state(scored, rounds, fixed ? ROUND_LATE | ROUND_OVERRUN : ROUND_SKIPPED),
        .late = count_state(scored, rounds, ROUND_LATE),
        .partings = count_partings(scored, rounds),
        .first_late = samples[0].state & missed,
        .second_late = control->stage_plan.lead + rounds > 1 && (samples[1].state & missed),
    };
    return update_pace(&control->pace, &control->pacing, &course);
}

/* Times are those of the slowest rank. If that rank lost its CPU, they may exceed the time that the stage took here. */
static void count_calls(const struct timing *timing, const struct control *control, const struct sample *scored) {
    double calls_ns = 0;
    for (int i = 0; i < control->stage_plan.rounds; i++)
        calls_ns += find_run_ns(timing, scored[i].time_ns) * control->stage_plan.repeats;
    const double stage_ns = 1e9 * (read_part_s(PART_ROUNDS) - control->rounds_before_s);
    move_part_time(PART_ROUNDS, PART_CALLS, fmin(calls_ns, stage_ns));
}

/* Records the samples of a stage, and updates the pace. */
static void record_stage(const struct timing *timing, struct control *control, struct measurement *into,
                         const struct sample *samples) {
    count_calls(timing, control, samples + control->stage_plan.lead);
    const int recorded =
        record_samples(timing, &control->stopping, into, samples + control->stage_plan.lead, control->stage_plan.rounds);
    if (update_from_stage(timing, control, samples) && timing->start->scheduled) {
        control->tightened = true;
        judge_starts(timing, control, into, into->sample_count + recorded);
    }
}

/* Number of rounds of the next stage: as many samples as are missing, within time and tries. */
static int plan_rounds(const struct timing *timing, const struct control *control, const struct measurement *so_far,
                       double timed_ns, double left_ns) {
    const struct stage_plan *stage_plan = &control->stage_plan;
    const double round_ns = timing->start->scheduled && !timing->start->agrees
                                ? (double)control->pace.window_ns
                                : control->pace.estimate_ns * stage_plan->repeats + (double)control->pace.slack_ns;
    int rounds = control->pace.rounds;
    if (timing->start->rounds == 0) {
        rounds = (int)clamp((double)(count_needed_samples(timing->stop, timed_ns) - so_far->valid), 1, rounds);
        rounds = (int)clamp(left_ns / (round_ns + 1), 1, rounds);
    }
    return timing->stop->tries > 0 ? (int)clamp((double)(timing->stop->tries - so_far->sample_count), 1, rounds) : rounds;
}

/* Data are renewed as long as this takes a small share of the remaining time. */
static bool can_renew_now(const struct timing *timing, double left_ns) {
    return timing->checks && timing->checks->can_renew(timing->setting) && timing->renewing_ns < RENEWAL_SHARE * left_ns;
}

static bool is_renewal_due(const struct timing *timing, const struct control *control, double left_ns) {
    return control->calls >= control->next_renewal && can_renew_now(timing, left_ns);
}

/* A stage ends when data are to be renewed. */
static int count_rounds_to_renewal(const struct control *control, int rounds) {
    const int64_t calls = control->next_renewal - control->calls;
    return (int)clamp((double)(calls / control->stage_plan.repeats - control->pace.lead), 1, rounds);
}

static bool awaits_delivery(const struct control *control) {
    return control->renewed && control->stages == control->renewed;
}

/* Otherwise the visit is left out of comparisons: more often the longer its calls take. */
static bool has_enough(const struct measurement *so_far) {
    const double rounds = (double)so_far->sample_count;
    return so_far->valid > 0 && (double)so_far->valid >= fmax(LEAST_SHARE * rounds, fmin(FEWEST_VALID, rounds / 2));
}

/* A case with too few valid samples may last longer. Renewed data must be delivered by a call before the case ends. */
static enum stopped decide_stop(const struct timing *timing, struct control *control, const struct measurement *so_far,
                                double timed_ns) {
    const double step_ns = (double)timing->team->clock->step_ns / find_run_ns(timing, control->stage_plan.repeats);
    const double limit_ns = timing->stop->limit_s * 1e9, most_ns = has_enough(so_far) ? limit_ns : PATIENCE * limit_ns;
    const enum stopped stopped = find_stop(&control->stopping, timing->stop, timing->start, so_far, timed_ns, step_ns);
    if (awaits_delivery(control))
        return STOPPED_NOT;
    if (stopped || timed_ns < most_ns)
        return stopped;
    return so_far->valid >= timing->stop->samples ? STOPPED_SAMPLES : STOPPED_TIME;
}

static int32_t decide_step(const struct timing *timing, const struct control *control, int64_t now_ns, double left_ns) {
    if (control->renewed && !awaits_delivery(control))
        return STEP_LOOK;
    if (!control->renewed && is_renewal_due(timing, control, left_ns))
        return STEP_RENEW;
    const bool stale = timing->compares && is_stale(timing->team->clock, now_ns, control->pace.estimate_ns);
    return stale ? STEP_SYNCHRONISE : STEP_STAGE;
}

static void decide(const struct timing *timing, struct control *control, const struct measurement *so_far) {
    struct stage_plan *stage_plan = &control->stage_plan;
    const struct pace *pace = &control->pace;
    const double timed_ns = (double)(read_steady_ns() - control->began_ns), left_ns = timing->stop->limit_s * 1e9 - timed_ns;
    stage_plan->stopped = decide_stop(timing, control, so_far, timed_ns);
    stage_plan->rounds = 0;
    if (control->failed || stage_plan->stopped)
        return;
    const int64_t now_ns = timing->world->source->read_ns(); /* After the stopping rules, which may sort all samples. */
    stage_plan->step = decide_step(timing, control, now_ns, left_ns);
    stage_plan->looks = stage_plan->step == STEP_STAGE && awaits_delivery(control);
    stage_plan->rounds = plan_rounds(timing, control, so_far, timed_ns, left_ns);
    if (timing->start->rounds == 0 && !control->renewed && can_renew_now(timing, left_ns))
        stage_plan->rounds = count_rounds_to_renewal(control, stage_plan->rounds);
    stage_plan->lead = pace->lead;
    stage_plan->group = pace->group;
    stage_plan->rest = pace->rest;
    stage_plan->calls_between = timing->start->scheduled && pace->calls_between;
    stage_plan->tolerance_ns = pace->tolerance_ns;
    stage_plan->window_ns = round_to_step(timing, pace->window_ns);
    stage_plan->slack_ns = round_to_step(timing, pace->slack_ns);
    stage_plan->first_ns = round_to_step(timing, now_ns + pace->margin_ns + stage_plan->lead * stage_plan->window_ns);
}

/* Number of calls between two readings of the clock: enough to hide the cost of reading, unless something else happens
 * between calls. If all ranks measure and none waits for the others, a single call says little. */
static int count_calls_per_reading(const struct timing *timing, double estimate_ns, double reading_ns) {
    const struct operation *operation = timing->operation;
    if (!timing->start->loops || timing->gap_ns > 0 || operation->hooks.before || operation->hooks.after ||
        buffers_change(timing->buffers) || renews_own_data(timing->buffers))
        return 1;
    if (!operation->timing.rank_0_measures)
        return (int)clamp(1e5 / (estimate_ns + 1), 1, MOST_REPEATS);
    const bool singly = timing->world->each_call || operation->kind == KIND_SELF_TEST;
    return singly ? 1 : (int)clamp(ceil(reading_ns / (READING_SHARE * (estimate_ns + 1))), 1, MOST_REPEATS);
}

static void begin_stages(const struct timing *timing, struct control *control) {
    const struct start *start = timing->start;
    const struct source_fact *clock = find_source_fact(timing->world->sources, timing->world->source->name);
    control->began_ns = read_steady_ns();
    control->pacing = (struct pacing){
        .scheduled = start->scheduled,
        .agrees = start->agrees,
        .lead = start->lead,
        .fixed_rounds = start->rounds,
        .growth = start->growth,
        .bad_share = start->bad_share,
        .cost_ns = clock->cost_ns,
        .step_ns = (double)clock->resolution_ns,
        .spread_ns = timing->spread_ns,
        .gap_ns = timing->gap_ns,
    };
    begin_pace(&control->pace, &control->pacing);
    control->stage_plan.repeats =
        count_calls_per_reading(timing, control->pace.estimate_ns, clock->cost_ns + (double)clock->resolution_ns);
}

/* Makes all samples again, since offsets between two synchronisations are known better than predicted ones. */
static void make_samples_again(const struct timing *timing, struct measurement *into) {
    struct sample samples[CHUNK];
    for (int64_t from = 0; from < into->sample_count; from += CHUNK) {
        const int count = (int)clamp((double)(into->sample_count - from), 1, CHUNK);
        make_samples(timing, into, from, count, samples);
        merge_samples_up(timing, samples, count);
        if (timing->team->rank == 0)
            memcpy(&into->samples[from], samples, sizeof *samples * (size_t)count);
    }
}

static void compare_clocks(const struct timing *timing, struct measurement *into) {
    synchronise(timing->team, timing->world->source, timing->world->synchronisation);
    into->synchronisations += timing->team->clock->number_of_clocks > 1;
}

/* Stores the data that every call must deliver. */
static void keep_first_data(const struct timing *timing) {
    if (timing->checks && timing->reference && !timing->team->idle)
        timing->checks->keep_reference(timing->setting);
}

/* One untimed call delivers renewed data, with which timed calls are compared. An error shows in the next stage. */
static void call_untimed(const struct timing *timing) {
    if (!timing->reference)
        return;
    const int code = timing->team->idle ? MPI_SUCCESS : run_untimed(timing);
    if (!code)
        keep_first_data(timing);
    dissemination_barrier(timing->team);
}

/* No rank begins a stage before all have new data, since others may access its memory. Checking needs no barrier: all
 * have ended the stage, and the next one delivers the same data. */
static void take_step(const struct timing *timing, struct control *control, struct measurement *into) {
    switch_part(control->stage_plan.step == STEP_SYNCHRONISE ? PART_CLOCKS : PART_RENEW);
    if (control->stage_plan.step == STEP_SYNCHRONISE) {
        compare_clocks(timing, into);
    } else if (control->stage_plan.step == STEP_LOOK) {
        timing->checks->inspect_renewed(timing->setting);
        control->renewed = 0;
    } else {
        timing->checks->renew(timing->setting);
        dissemination_barrier(timing->team);
        call_untimed(timing);
        control->renewed = control->stages;
        control->next_renewal = RENEWAL_GROWTH * control->calls;
    }
}

/* A rank may leave a call before the last one arrives, which is no time of its own. */
static double find_rank_share(const struct timing *timing, const struct measurement *measurement) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; timing->team->rank == 0 && i < measurement->sample_count; i++) {
        const struct sample *sample = &measurement->samples[i];
        if (is_discarded(timing->start, sample) || sample->timed == 0 || sample->time_ns <= 0)
            continue;
        sum += fmin(fmax(sample->total_ns / sample->timed / sample->time_ns, 0), 1);
        count++;
    }
    return count ? sum / (double)count : 0;
}

/* If the tolerance was too large for the times, no round is valid. */
static void judge_tolerance(const struct timing *timing, const struct control *control, struct measurement *into) {
    const bool judges = timing->start->scheduled && timing->start->rounds == 0;
    if (!judges || is_tolerable(&control->pace, &control->pacing, find_run_ns(timing, find_median_ns(timing, into))))
        return;
    for (int64_t i = 0; i < into->sample_count; i++)
        into->samples[i].state |= ROUND_LATE;
    into->late = into->sample_count;
    into->overrun = into->valid = 0;
}

int measure(const struct timing *timing, struct measurement *into) {
    struct sample samples[MOST_LEAD + MOST_ROUNDS];
    struct control control = {.next_renewal = FIRST_RENEWAL};
    const bool leads = timing->team->rank == 0;
    if (timing->reference)
        timing->reference->ready = false;
    switch_part(PART_WARM_UP);
    int code = warm_up(timing, &control, samples);
    switch_part(PART_STEER);
    if (!code)
        keep_first_data(timing);
    begin_stages(timing, &control);
    into->first_window_ns = timing->start->scheduled ? control.pace.window_ns : 0;
    for (;;) {
        watch_phase("is timed");
        if (leads)
            decide(timing, &control, into);
        tree_broadcast(timing->team, &control.stage_plan, sizeof control.stage_plan);
        if (control.stage_plan.rounds == 0)
            break;
        if (control.stage_plan.step != STEP_STAGE) {
            take_step(timing, &control, into);
            switch_part(PART_STEER);
            continue;
        }
        control.stages++;
        control.calls += (control.stage_plan.lead + control.stage_plan.rounds) * (int64_t)control.stage_plan.repeats;
        control.rounds_before_s = read_part_s(PART_ROUNDS);
        switch_part(PART_ROUNDS);
        code = first_error(code, time_stage(timing, timing->start, &control.stage_plan, into, samples));
        switch_part(PART_CHECK);
        if (timing->checks)
            timing->checks->check_promises(timing->setting);
        switch_part(PART_STEER);
        if (leads) {
            control.failed |= count_state(samples, control.stage_plan.lead + control.stage_plan.rounds, ROUND_FAILED) > 0;
            record_stage(timing, &control, into, samples);
        }
        into->sample_count += clamp((double)(into->capacity - into->sample_count), 0, control.stage_plan.rounds);
    }
    into->repeats = control.stage_plan.repeats;
    into->last_window_ns = timing->start->scheduled ? control.pace.window_ns : 0;
    into->estimate_ns = control.pace.estimate_ns / find_run_ns(timing, 1);
    into->tolerance_ns = timing->start->scheduled && !timing->start->rounds ? control.pace.tolerance_ns : 0;
    into->unsettled = control.pace.unsettled;
    into->stopped = (enum stopped)control.stage_plan.stopped;
    if (timing->compares && timing->team->clock->number_of_clocks > 1) {
        switch_part(PART_CLOCKS);
        compare_clocks(timing, into);
        switch_part(PART_STEER);
        make_samples_again(timing, into);
        if (leads && control.tightened)
            judge_starts(timing, &control, into, into->sample_count);
    }
    if (leads)
        judge_tolerance(timing, &control, into);
    into->rank_share = find_rank_share(timing, into);
    return code;
}
