/* The only timing loop of the project, and how it is steered.
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
#include "sample.h"
#include "source.h"
#include "steady.h"
#include "stop.h"
#include "tree.h"
#include "watchdog.h"
#include "world.h"

enum { MOST_LEAD = 4, FEW_ROUNDS = 8, MOST_ROUNDS = MOST_STAGE, MOST_REPEATS = 64, CHUNK = 1024 };
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
static const int64_t NO_MOMENT = INT64_MIN;
/* What new data between two stages may take of the time that is left. */
static const double RENEWAL_SHARE = 0.02;
/* How many times its time limit a case may last that has no valid sample yet. */
static const double PATIENCE = 9;

/* What rank 0 tells the others to do next; no rounds: nothing. */
struct agenda {
    int64_t first_ns;
    int64_t window_ns;
    int64_t slack_ns;
    int64_t tolerance_ns;
    int32_t lead;
    int32_t rounds;
    int32_t repeats;
    int32_t step;
    int32_t stopped;
};

/* What is done next: a stage, or what must not be timed between two. */
enum { STEP_STAGE, STEP_SYNCHRONISE, STEP_RENEW, STEP_LOOK };

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

static inline int first_error(int before, int now) {
    return before ? before : now;
}

static int limit(double value, int least, int most) {
    return value < least ? least : value > most ? most : (int)value;
}

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* --- rounds --- */

/* How late this rank comes to a round, by the arrival pattern. A random pattern is drawn by every rank for itself. */
static int64_t delay_ns(const struct timing *timing, int64_t round) {
    const int64_t spread_ns = timing->spread_ns, rank = timing->team->rank, ranks = timing->team->ranks;
    if (timing->arrival == ARRIVE_STAGGERED)
        return ranks > 1 ? spread_ns * rank / (ranks - 1) : 0;
    if (timing->arrival == ARRIVE_ONE_LATE)
        return (round % ranks + ranks) % ranks == rank ? spread_ns : 0;
    uint64_t x = (uint64_t)round * 0x9e3779b97f4a7c15u + (uint64_t)rank * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 30)) * 0x94d049bb133111ebu;
    return (int64_t)((double)(x >> 40) / (1 << 24) * (double)spread_ns);
}

/* By how much windows are longer for ranks to come in; with a quarter to spare, so that one who was late can catch up. */
static int64_t room_ns(const struct timing *timing) {
    return timing->spread_ns + timing->spread_ns / 4;
}

static int run_calls(const struct timing *timing, int repeats) {
    int code = MPI_SUCCESS;
    for (int repeat = 0; repeat < repeats; repeat++)
        code = first_error(code, timing->run(timing->call));
    return code;
}

static inline int hook(int (*function)(struct call *), struct call *call) {
    return function ? function(call) : MPI_SUCCESS;
}

static int run_stage(const struct timing *timing, const struct start *start, const struct agenda *agenda, int64_t first_round,
                     struct moment *moments) {
    int64_t (*const read_ns)(void) = timing->world->source->read_ns;
    const struct operation *const operation = timing->operation;
    struct call *const call = timing->call;
    struct stage stage = {
        .team = timing->team,
        .read_ns = read_ns,
        .first_ns = agenda->first_ns,
        .window_ns = agenda->window_ns,
        .slack_ns = agenda->slack_ns,
        .tolerance_ns = agenda->tolerance_ns,
        .yields = timing->world->yields,
        .next_ns = agenda->first_ns - agenda->lead * agenda->window_ns,
    };
    const bool arrives = start->scheduled && timing->spread_ns > 0, changes = buffers_change(timing->buffers);
    int code = MPI_SUCCESS;
    memset(moments, 0, sizeof *moments * (size_t)(agenda->lead + agenda->rounds));
    for (int round = -agenda->lead; round < agenda->rounds && !code; round++) {
        if (changes)
            change_buffers(timing->buffers, call);
        if (arrives)
            stage.delay_ns = delay_ns(timing, first_round + round);
        code = first_error(code, hook(operation->before, call));
        const bool in_time = start->begin(&stage, round);
        const int64_t begin_ns = start->scheduled ? stage.begin_ns : timing->measures ? read_ns() : 0;
        code = first_error(code, run_calls(timing, agenda->repeats));
        moments[agenda->lead + round] = (struct moment){
            .common_ns = stage.common_ns,
            .begin_ns = begin_ns,
            .end_ns = timing->measures ? read_ns() : begin_ns,
            .delay_ns = (float)stage.delay_ns,
            .state = (in_time ? 0 : ROUND_LATE) | (stage.skipped ? ROUND_SKIPPED : 0),
        };
        code = first_error(code, hook(operation->after, call));
    }
    return code;
}

/* A rank that has no part in the case takes none in its rounds, unless the others need it to begin them. */
static int sit_out(const struct timing *timing, const struct start *start, const struct agenda *agenda, struct moment *moments) {
    struct stage stage = {.team = timing->team, .read_ns = timing->world->source->read_ns, .yields = true};
    const bool needed = !start->loops && (!start->scheduled || start->agrees);
    for (int round = -agenda->lead; round < agenda->rounds; round++) {
        if (needed)
            start->begin(&stage, round);
        moments[agenda->lead + round] = (struct moment){.state = 0};
    }
    return MPI_SUCCESS;
}

/* A time is one call's: from the common start, or from where the rank itself began. */
static struct sample sample_of(const struct timing *timing, const struct start *start, int repeats,
                               const struct moment *moment) {
    const struct clock *clock = timing->team->clock;
    const bool measures = timing->measures;
    const struct reading at_begin = known(clock, moment->begin_ns), at_end = known(clock, moment->end_ns);
    const int64_t began_ns = moment->begin_ns - llround(at_begin.offset_ns);
    const int64_t ended_ns = moment->end_ns - llround(at_end.offset_ns);
    double time_ns = (double)(start->scheduled ? ended_ns - moment->common_ns : moment->end_ns - moment->begin_ns);
    time_ns /= repeats * timing->rounds * timing->legs;
    const bool compared = timing->compares && !timing->team->idle && (measures || start->scheduled);
    return (struct sample){
        .time_ns = measures ? time_ns : -1,
        .common_ns = start->scheduled && !timing->team->idle ? moment->common_ns : NO_MOMENT,
        .first_ns = compared ? began_ns : INT64_MAX,
        .last_ns = compared ? began_ns : INT64_MIN,
        .bound_ns = compared ? (float)at_begin.bound_ns : 0,
        .delay_ns = moment->delay_ns,
        .last_rank = timing->team->rank,
        .state = moment->state,
    };
}

/* What a run takes of which a sample is a part. */
static double whole_ns(const struct timing *timing, double time_ns) {
    return time_ns * timing->rounds * timing->legs;
}

void score(const struct timing *timing, const struct measurement *measurement, int64_t from, int count, struct sample *into) {
    for (int i = 0; i < count; i++)
        into[i] = sample_of(timing, timing->start, measurement->repeats, &measurement->moments[from + i]);
}

static void merge_samples(void *into, const void *from, int bytes) {
    struct sample *mine = into;
    const struct sample *theirs = from;
    for (int i = 0; i < bytes / (int)sizeof *mine; i++) {
        struct sample merged = theirs[i].time_ns > mine[i].time_ns ? theirs[i] : mine[i];
        merged.first_ns = theirs[i].first_ns < mine[i].first_ns ? theirs[i].first_ns : mine[i].first_ns;
        merged.last_ns = theirs[i].last_ns > mine[i].last_ns ? theirs[i].last_ns : mine[i].last_ns;
        merged.delay_ns = theirs[i].delay_ns > mine[i].delay_ns ? theirs[i].delay_ns : mine[i].delay_ns;
        merged.bound_ns = theirs[i].bound_ns > mine[i].bound_ns ? theirs[i].bound_ns : mine[i].bound_ns;
        merged.state = mine[i].state | theirs[i].state;
        merged.common_ns = mine[i].common_ns == NO_MOMENT ? theirs[i].common_ns : mine[i].common_ns;
        if (theirs[i].common_ns != NO_MOMENT && theirs[i].common_ns != merged.common_ns)
            merged.state |= ROUND_LATE;
        mine[i] = merged;
    }
}

/* Times count from the last rank's coming. */
static void count_from_last(struct sample *samples, int count) {
    for (int i = 0; i < count; i++)
        samples[i].time_ns -= samples[i].delay_ns;
}

void take_single(const struct timing *timing, struct measurement *into, double value) {
    struct sample sample = {
        .time_ns = timing->team->idle ? -1 : value,
        .common_ns = NO_MOMENT,
        .first_ns = INT64_MAX,
        .last_ns = INT64_MIN,
        .last_rank = timing->team->rank,
    };
    tree_combine(timing->team, &sample, sizeof sample, merge_samples);
    if (timing->team->rank == 0)
        into->samples[0] = sample;
    into->taken = into->valid = 1;
    into->stopped = STOPPED_SAMPLES;
}

/* Keeps what this rank saw, and gets rank 0 what all saw together. Every rank keeps as many rounds. */
static int stage(const struct timing *timing, const struct start *start, const struct agenda *agenda,
                 struct measurement *into, struct sample *samples) {
    struct moment moments[MOST_LEAD + MOST_ROUNDS];
    const int rounds = agenda->lead + agenda->rounds;
    const int code = timing->team->idle ? sit_out(timing, start, agenda, moments)
                                        : run_stage(timing, start, agenda, into ? into->taken : 0, moments);
    if (code && code != CALL_MISSING)
        watch_failed(timing->operation->name, code);
    for (int i = 0; i < rounds; i++) {
        samples[i] = sample_of(timing, start, agenda->repeats, &moments[i]);
        if (timing->measures && start->scheduled && !start->agrees && whole_ns(timing, samples[i].time_ns) > (double)agenda->window_ns)
            moments[i].state |= ROUND_OVERRUN;
        moments[i].state |= code ? ROUND_FAILED : 0;
        samples[i].state = moments[i].state;
    }
    for (int i = 0; into && i < agenda->rounds && into->taken + i < into->capacity; i++)
        into->moments[into->taken + i] = moments[agenda->lead + i];
    tree_combine(timing->team, samples, (int)sizeof *samples * rounds, merge_samples);
    count_from_last(samples, rounds);
    return code;
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
                        double left_ns) {
    const struct agenda *agenda = &control->agenda;
    const double round_ns = timing->start->scheduled && !timing->start->agrees
                                ? (double)agenda->window_ns
                                : control->estimate_ns * agenda->repeats + (double)agenda->slack_ns;
    int rounds = control->rounds;
    if (timing->start->rounds == 0) {
        rounds = limit((double)(timing->stop->samples - so_far->valid), 1, rounds);
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
    const double limit_ns = timing->stop->limit_s * 1e9, left_ns = limit_ns - (double)(steady_ns() - control->began_ns);
    const double step_ns = (double)timing->team->clock->step_ns / whole_ns(timing, agenda->repeats);
    agenda->stopped = stop_now(&control->stopping, timing->stop, timing->start, so_far, step_ns);
    if (!agenda->stopped && left_ns <= (so_far->valid > 0 ? 0 : -PATIENCE * limit_ns))
        agenda->stopped = STOPPED_TIME;
    agenda->rounds = 0;
    agenda->step = control->renewed && control->stages > control->renewed ? STEP_LOOK : STEP_STAGE;
    if (failed || agenda->stopped)
        return;
    const int64_t now_ns = timing->world->source->read_ns(); /* After the rules of stopping, which may sort all samples. */
    if (agenda->step == STEP_STAGE && !control->renewed && is_renewal_due(timing, control, left_ns))
        agenda->step = STEP_RENEW;
    else if (agenda->step == STEP_STAGE && timing->compares && is_stale(timing->team->clock, now_ns, control->estimate_ns))
        agenda->step = STEP_SYNCHRONISE;
    agenda->rounds = rounds_ahead(timing, control, so_far, left_ns);
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
        tree_combine(timing->team, samples, (int)sizeof *samples * count, merge_samples);
        count_from_last(samples, count);
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
