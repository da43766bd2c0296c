/* How the timing loop of rounds.c is steered.
 *
 *   warm-up (not scored)      stage                          stage
 *   |.. ........|  talk  |lead|r|r|r|r|r|r|r|r|  talk  |lead|r|r|r|r|...
 *
 * Within a stage ranks exchange nothing but what the operation itself sends. Between stages they merge their samples up a
 * tree, and rank 0 decides: enough, or clocks must be compared again, or when the next stage begins, how long its windows are
 * and how many rounds it has. The first rounds of a stage are not scored, because the talk before them leaves its traces in
 * caches and queues. When all is over, and clocks were compared once more, samples are made anew from what every rank saw. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "clock.h"
#include "core.h"
#include "job.h"
#include "memory.h"
#include "registry.h"
#include "rounds.h"
#include "source.h"
#include "steady.h"
#include "tree.h"
#include "watchdog.h"
#include "world.h"

enum { FEW_ROUNDS = 8, MOST_REPEATS = 64, CHUNK = 1024 };
enum { LEAST_WARM_UP_NS = 1000000, FIRST_MARGIN_NS = 20000, MOST_MARGIN_NS = 50000000, FIRST_SLACK_NS = 3000, COARSE_NS = 100 };
/* Calls that take longer leave no traces in caches and queues that would matter to the next. */
enum { LONG_NS = 1000000, LEAST_TOLERANCE_NS = 100 };
static const double MOST_WARM_UP = 0.1;
/* A round may begin late by a few readings of the clock, or by so much of what it takes. */
static const double TOLERANCE_SHARE = 0.02, TOLERANCE_READINGS = 3;
/* What a reading of the clock and its step may be of a sample. */
static const double READING_SHARE = 0.01;
/* How much longer than the call a window may become, beside a constant for what ranks do between calls. */
enum { MOST_WINDOWS = 4, MOST_BETWEEN_NS = 2000, WINDOW_SHRINKS_BY = 16 };
/* What new data between two stages may take of the time that is left. */
static const double RENEWAL_SHARE = 0.02;
/* How many times its time limit a case may last that has no valid sample yet. */
static const double PATIENCE = 9;

struct control {
    struct agenda agenda;
    struct stopping stopping;
    int64_t began_ns;
    int64_t margin_ns;
    /* What a run takes that nothing holds up, and the longest of the warm-up. */
    double estimate_ns;
    double longest_ns;
    int64_t least_window_ns, most_window_ns;
    int32_t rounds;
    /* Stages so far, after how many of them the data are renewed next, and whether the next one's are new. */
    int32_t stages, next_renewal, renewed;
};

static int limit(double value, int least, int most) {
    return value < least ? least : value > most ? most : (int)value;
}

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* --- warm-up --- */

static int by_time(const void *left, const void *right) {
    const double a = ((const struct sample *)left)->time_ns, b = ((const struct sample *)right)->time_ns;
    return (a > b) - (a < b);
}

double median_ns(const struct timing *timing, const struct measurement *measurement) {
    struct sample *sorted = malloc(sizeof *sorted * (size_t)(measurement->taken + 1));
    int64_t count = 0;
    for (int64_t i = 0; i < measurement->taken; i++)
        if (!is_discarded(timing->start, &measurement->samples[i]))
            sorted[count++] = measurement->samples[i];
    qsort(sorted, (size_t)count, sizeof *sorted, by_time);
    const double median = count ? sorted[count / 2].time_ns : 0;
    free(sorted);
    return median;
}

static double quantile(const struct sample *samples, int count, double share) {
    struct sample sorted[MOST_LEAD + MOST_ROUNDS];
    memcpy(sorted, samples, sizeof *samples * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, by_time);
    return sorted[(int)(share * (count - 1))].time_ns;
}

/* Calls begin after a barrier while nothing is known of their length; the first window and the repeats follow from it. Stages
 * of 1, 2, 4 and more calls, so that long ones do not spend the time limit, go on while calls still become faster, since a
 * library may set up its connections for long after the first message. */
static int warm_up(const struct timing *timing, struct control *control, struct sample *samples) {
    const struct start *start = timing->start->scheduled ? find_start("barrier") : timing->start;
    const int64_t began_ns = steady_ns();
    int code = MPI_SUCCESS;
    control->agenda = (struct agenda){.rounds = timing->long_ns > 0 ? 0 : 1, .repeats = 1};
    control->estimate_ns = control->longest_ns = timing->long_ns;
    while (control->agenda.rounds > 0) {
        const int rounds = control->agenda.rounds;
        const double before_ns = control->estimate_ns;
        watch_phase("is warmed up");
        code = first_error(code, stage(timing, start, &control->agenda, NULL, samples));
        control->estimate_ns = whole_ns(timing, quantile(samples, rounds, 0.9));
        control->longest_ns = whole_ns(timing, quantile(samples, rounds, 1));
        const double spent_ns = (double)(steady_ns() - began_ns);
        const bool settled = rounds >= MOST_ROUNDS / 2 && control->estimate_ns > 0.9 * before_ns && spent_ns > LEAST_WARM_UP_NS;
        control->agenda.rounds = limit(2 * rounds, 1, MOST_ROUNDS / 2);
        if (settled || spent_ns > MOST_WARM_UP * timing->stop->limit_s * 1e9)
            control->agenda.rounds = 0;
        tree_broadcast(timing->team, control, sizeof *control);
    }
    return code;
}

/* --- steering --- */

/* By how much windows are longer for ranks to come in; with a quarter to spare, so that one who was late can catch up. */
static int64_t room_ns(const struct timing *timing) {
    return timing->spread_ns + timing->spread_ns / 4;
}

/* Moments that are no reading of a coarse clock would be met late by up to its step. */
static int64_t on_a_step(const struct timing *timing, int64_t time_ns) {
    const int64_t step_ns = timing->team->clock->step_ns;
    return step_ns < COARSE_NS ? time_ns : (time_ns + step_ns - 1) / step_ns * step_ns;
}

static void record(const struct timing *timing, struct stopping *stopping, struct measurement *into,
                   const struct sample *samples, int count) {
    for (int i = 0; i < count && into->taken + i < into->capacity; i++) {
        const struct sample *sample = &samples[i];
        into->samples[into->taken + i] = *sample;
        into->late += (sample->state & ROUND_LATE) != 0;
        into->overrun += !(sample->state & ROUND_LATE) && (sample->state & ROUND_OVERRUN);
        if (is_discarded(timing->start, sample))
            continue;
        into->valid++;
        stop_learns(stopping, sample);
    }
}

static int count_state(const struct sample *samples, int count, int state) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += (samples[i].state & state) != 0;
    return found;
}

/* How long the news of a stage takes to reach all: doubled when it came too late, and less again when it came in time, since
 * one interruption says little of the next stage. */
static int64_t learned_margin_ns(int64_t margin_ns, bool late) {
    return within(late ? 2 * margin_ns : margin_ns - margin_ns / 8, FIRST_MARGIN_NS, MOST_MARGIN_NS);
}

/* Windows and slack become longer where more rounds than a few were met too late by a rank that had not come yet, up to a
 * limit, and shorter again where none was. A rank that came in time and lost its CPU while it waited is no reason: no window
 * is long enough for that. */
static int64_t learned_ns(const struct start *start, int64_t time_ns, int skipped, int rounds, int64_t least_ns, int64_t most_ns) {
    if (skipped > start->bad_share * rounds)
        return within((int64_t)(start->growth * (double)time_ns), least_ns, most_ns);
    return skipped ? time_ns : within(time_ns - time_ns / WINDOW_SHRINKS_BY, least_ns, most_ns);
}

static void learn(const struct start *start, struct control *control, const struct sample *samples) {
    struct agenda *agenda = &control->agenda;
    const int rounds = agenda->rounds, fixed = start->rounds;
    const int skipped = count_state(samples + agenda->lead, rounds, fixed ? ROUND_LATE | ROUND_OVERRUN : ROUND_SKIPPED);
    control->margin_ns = learned_margin_ns(control->margin_ns, samples[0].state & (fixed ? ROUND_LATE : ROUND_SKIPPED));
    if (start->scheduled && rounds >= FEW_ROUNDS) {
        agenda->window_ns = learned_ns(start, agenda->window_ns, skipped, rounds, control->least_window_ns, control->most_window_ns);
        agenda->slack_ns = start->agrees ? learned_ns(start, agenda->slack_ns, skipped, rounds, FIRST_SLACK_NS, MOST_MARGIN_NS) : 0;
    }
    /* A rank that waits a window longer than the others, who did not wait for it, stays behind until the stage ends. */
    const bool apart = count_state(samples + agenda->lead, rounds, ROUND_LATE) > rounds / 4;
    control->rounds = fixed ? fixed : limit(apart ? control->rounds / 2 : control->rounds * 2, FEW_ROUNDS, MOST_ROUNDS);
}

/* How many rounds the next stage has: what is lacking, as far as time and tries reach. */
static int rounds_ahead(const struct timing *timing, const struct control *control, const struct measurement *so_far,
                        double timed_ns, double left_ns) {
    const struct agenda *agenda = &control->agenda;
    const double round_ns = timing->start->scheduled && !timing->start->agrees
                                ? (double)agenda->window_ns
                                : control->estimate_ns * agenda->repeats + (double)agenda->slack_ns;
    int rounds = control->rounds;
    if (timing->start->rounds == 0) {
        rounds = limit((double)(needed_samples(timing->stop, timed_ns) - so_far->valid), 1, rounds);
        rounds = limit(left_ns / (round_ns + 1), 1, rounds);
    }
    return timing->stop->tries > 0 ? limit((double)(timing->stop->tries - so_far->taken), 1, rounds) : rounds;
}

/* After 1, 2, 4, 8 and more stages, as long as that takes a small part of the time that is left. */
static bool is_renewal_due(const struct timing *timing, const struct control *control, double left_ns) {
    return timing->renew && control->stages > 0 && control->stages >= control->next_renewal && timing->renewing_ns < RENEWAL_SHARE * left_ns;
}

static void decide(const struct timing *timing, struct control *control, const struct measurement *so_far, bool failed) {
    struct agenda *agenda = &control->agenda;
    const double timed_ns = (double)(steady_ns() - control->began_ns);
    const double limit_ns = timing->stop->limit_s * 1e9, left_ns = limit_ns - timed_ns;
    const double step_ns = (double)timing->team->clock->step_ns / whole_ns(timing, agenda->repeats);
    agenda->stopped = stop_now(&control->stopping, timing->stop, timing->start, so_far, timed_ns, step_ns);
    if (!agenda->stopped && left_ns <= (so_far->valid > 0 ? 0 : -PATIENCE * limit_ns))
        agenda->stopped = so_far->valid >= timing->stop->samples ? STOPPED_SAMPLES : STOPPED_TIME;
    /* New data that no call has brought yet must not be looked at after the case. */
    if (control->renewed && control->stages == control->renewed)
        agenda->stopped = STOPPED_NOT;
    agenda->rounds = 0;
    agenda->step = control->renewed && control->stages > control->renewed ? STEP_LOOK : STEP_STAGE;
    if (failed || agenda->stopped)
        return;
    const int64_t now_ns = timing->world->source->read_ns(); /* After the rules of stopping, which may sort all samples. */
    if (agenda->step == STEP_STAGE && !control->renewed && is_renewal_due(timing, control, left_ns))
        agenda->step = STEP_RENEW;
    else if (agenda->step == STEP_STAGE && timing->compares && is_stale(timing->team->clock, now_ns, control->estimate_ns))
        agenda->step = STEP_SYNCHRONISE;
    agenda->looks = agenda->step == STEP_STAGE && control->renewed && control->stages == control->renewed;
    agenda->rounds = rounds_ahead(timing, control, so_far, timed_ns, left_ns);
    agenda->window_ns = on_a_step(timing, agenda->window_ns);
    agenda->slack_ns = on_a_step(timing, agenda->slack_ns);
    agenda->first_ns = on_a_step(timing, now_ns + control->margin_ns + agenda->lead * agenda->window_ns);
}

/* How many calls follow each other between two readings of the clock: as many as hide the readings, unless something else
 * happens between calls. Where all ranks measure and none waits for the others to begin, a single call tells little. */
static int calls_per_reading(const struct timing *timing, double estimate_ns, double reading_ns) {
    const struct operation *operation = timing->operation;
    if (!timing->start->loops || operation->before || operation->after || buffers_change(timing->buffers))
        return 1;
    if (!operation->rank_0_measures)
        return limit(1e5 / (estimate_ns + 1), 1, MOST_REPEATS);
    const bool singly = timing->world->each_call || strcmp(operation->kind, "self-test") == 0;
    return singly ? 1 : limit(ceil(reading_ns / (READING_SHARE * (estimate_ns + 1))), 1, MOST_REPEATS);
}

static void begin_stages(const struct timing *timing, struct control *control) {
    struct agenda *agenda = &control->agenda;
    control->began_ns = steady_ns();
    control->margin_ns = FIRST_MARGIN_NS;
    control->rounds = timing->start->rounds > 0 ? timing->start->rounds : FEW_ROUNDS;
    const bool fixed = timing->start->rounds > 0;
    const struct source_fact *clock = fact_of(timing->world->sources, timing->world->source->name);
    const double readings_ns = TOLERANCE_READINGS * clock->cost_ns + (double)clock->resolution_ns;
    agenda->slack_ns = timing->start->agrees ? FIRST_SLACK_NS : 0;
    agenda->lead = !fixed && control->estimate_ns > LONG_NS ? 0 : timing->start->lead;
    agenda->tolerance_ns = (int64_t)fmax(fmax(LEAST_TOLERANCE_NS, readings_ns), TOLERANCE_SHARE * control->estimate_ns);
    agenda->window_ns = room_ns(timing) + (int64_t)(fixed ? control->longest_ns : 1.5 * control->estimate_ns + 500);
    control->least_window_ns = fixed ? agenda->window_ns : agenda->window_ns / 2;
    control->most_window_ns = room_ns(timing) + (int64_t)(MOST_WINDOWS * control->estimate_ns) + MOST_BETWEEN_NS;
    if (fixed)
        control->most_window_ns = INT64_MAX / 2;
    agenda->repeats = calls_per_reading(timing, control->estimate_ns, clock->cost_ns + (double)clock->resolution_ns);
}

/* Makes all samples anew, since what lies between two synchronisations is known better than what lay ahead of one. */
static void score_again(const struct timing *timing, struct measurement *into) {
    struct sample samples[CHUNK];
    for (int64_t from = 0; from < into->taken; from += CHUNK) {
        const int count = limit((double)(into->taken - from), 1, CHUNK);
        score(timing, into, from, count, samples);
        merge_up(timing, samples, count);
        if (timing->team->rank == 0)
            memcpy(&into->samples[from], samples, sizeof *samples * (size_t)count);
    }
}

static void compare_clocks(const struct timing *timing, struct measurement *into) {
    synchronise(timing->team, timing->world->source, timing->world->synchronisation);
    into->synchronisations += timing->team->clock->number_of_clocks > 1;
}

/* Nobody begins a stage before all have new data: others may reach into a rank's memory. Who looks needs not wait for others,
 * since all have ended the stage, and what a next one brings is the same. */
static void take_step(const struct timing *timing, struct control *control, struct measurement *into) {
    if (control->agenda.step == STEP_SYNCHRONISE) {
        compare_clocks(timing, into);
    } else if (control->agenda.step == STEP_LOOK) {
        timing->look(timing->setting);
        control->renewed = 0;
    } else {
        timing->renew(timing->setting);
        dissemination_barrier(timing->team);
        control->renewed = control->stages;
        control->next_renewal = 2 * control->stages;
    }
}

int measure(const struct timing *timing, struct measurement *into) {
    struct sample samples[MOST_LEAD + MOST_ROUNDS];
    struct control control = {.rounds = 0};
    const bool leads = timing->team->rank == 0;
    int code = warm_up(timing, &control, samples);
    bool failed = count_state(samples, 1, ROUND_FAILED) != 0;
    begin_stages(timing, &control);
    into->first_window_ns = timing->start->scheduled ? control.agenda.window_ns : 0;
    for (;;) {
        watch_phase("is timed");
        if (leads)
            decide(timing, &control, into, failed);
        tree_broadcast(timing->team, &control.agenda, sizeof control.agenda);
        if (control.agenda.rounds == 0)
            break;
        if (control.agenda.step != STEP_STAGE) {
            take_step(timing, &control, into);
            continue;
        }
        control.stages++;
        code = first_error(code, stage(timing, timing->start, &control.agenda, into, samples));
        if (leads) {
            failed = count_state(samples, 1, ROUND_FAILED) != 0;
            record(timing, &control.stopping, into, samples + control.agenda.lead, control.agenda.rounds);
            learn(timing->start, &control, samples);
        }
        into->taken += limit((double)(into->capacity - into->taken), 0, control.agenda.rounds);
    }
    into->repeats = control.agenda.repeats;
    into->last_window_ns = timing->start->scheduled ? control.agenda.window_ns : 0;
    into->stopped = (enum stopped)control.agenda.stopped;
    if (timing->compares && timing->team->clock->number_of_clocks > 1) {
        compare_clocks(timing, into);
        score_again(timing, into);
    }
    return code;
}
