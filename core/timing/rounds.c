/* The only timing loop of the project, and the samples made of its rounds. */
#include "timing/rounds.h"

#include <math.h>
#include <string.h>

#include "base/choices.h"
#include "base/tree.h"
#include "kit/receipts.h"
#include "sync/clock.h"
#include "timing/watchdog.h"

/* Bytes compared after a round; few, to keep the cache for the next one. */
enum { ROUND_WINDOW_BYTES = 1 << 10, STAGE_WINDOW_BYTES = 1 << 16 };
/* What is computed with: as much as a core can read meanwhile, but no more than the caches of a core and its share of a
 * common one usually hold. */
enum { LINE = 64, LINES_COMPUTED = 16, COMPUTED_PER_NS = 32, MOST_COMPUTED = 8 << 20 };
static const int64_t NO_MOMENT = INT64_MIN;

/* Delay of this rank in a round, by the arrival pattern. In a random pattern every rank draws its own. */
static int64_t find_delay_ns(const struct timing *timing, int64_t round) {
    const int64_t spread_ns = timing->spread_ns, rank = timing->team->rank, ranks = timing->team->ranks;
    if (timing->arrival == ARRIVE_STAGGERED)
        return ranks > 1 ? spread_ns * rank / (ranks - 1) : 0;
    if (timing->arrival == ARRIVE_ONE_LATE)
        return (round % ranks + ranks) % ranks == rank ? spread_ns : 0;
    uint64_t x = (uint64_t)round * 0x9e3779b97f4a7c15u + (uint64_t)rank * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 30)) * 0x94d049bb133111ebu;
    return (int64_t)((double)(x >> 40) / (1 << 24) * (double)spread_ns);
}

/* A program uses its data between two calls, as fast as memory allows: what the library needs leaves the caches, and
 * more of it the longer the gap is. */
static void compute(const struct timing *timing) {
    static volatile unsigned char data[MOST_COMPUTED];
    static long at;
    int64_t (*const read_ns)(void) = timing->world->source->read_ns;
    const int64_t until_ns = read_ns() + timing->gap_ns;
    const long used = timing->gap_ns < MOST_COMPUTED / COMPUTED_PER_NS ? (long)timing->gap_ns * COMPUTED_PER_NS : MOST_COMPUTED;
    do {
        for (int line = 0; line < LINES_COMPUTED; line++, at = at + LINE < used ? at + LINE : 0)
            data[at]++;
    } while (read_ns() < until_ns);
}

/* Time without calls of the library, behind a start that may call it. */
static void wait_gap(const struct timing *timing) {
    int64_t (*const read_ns)(void) = timing->world->source->read_ns;
    const int64_t until_ns = read_ns() + timing->gap_ns;
    while (read_ns() < until_ns)
        ;
}

static int run_calls(const struct timing *timing, int repeats) {
    int code = MPI_SUCCESS;
    for (int repeat = 0; repeat < repeats; repeat++)
        code = first_error(code, timing->run(timing->call));
    return code;
}

static void count_runs(const struct timing *timing, int repeats) {
    if (timing->checks)
        timing->call->runs += repeats;
}

static inline bool compares_data(const struct timing *timing) {
    return timing->reference && timing->reference->ready;
}

/* Called after a round with a small window, and after a stage with a larger one. */
static void compare_data(const struct timing *timing, long window_bytes) {
    if (compares_data(timing) && !is_right_again(timing->reference, window_bytes))
        timing->checks->judge_difference(timing->setting);
}

/* Called after the comparison of data, since it may call MPI, which could deliver late data. */
static void compare_receipts(const struct timing *timing) {
    const struct receipts *receipts = timing->call->window.receipts;
    if (receipts && !are_receipts_known(receipts))
        timing->checks->judge_receipts(timing->setting);
}

static inline int call_hook(int (*function)(struct call *), struct call *call) {
    return function ? function(call) : MPI_SUCCESS;
}

/* Before a round: new data, and what the operation needs for a call. An extra round is not recorded. */
static int prepare_round(const struct timing *timing, bool changes, bool extra) {
    struct call *const call = timing->call;
    if (timing->gap_ns > 0)
        compute(timing);
    if (changes)
        change_buffers(timing->buffers, call);
    if (timing->checks)
        timing->checks->begin_round(timing->setting, extra);
    if (call->window.receipts)
        clear_receipts(call->window.receipts);
    return call_hook(timing->operation->hooks.before, call);
}

/* Data change before the operation prepares its call, as in every round. */
int run_untimed(const struct timing *timing) {
    int code = prepare_round(timing, false, false);
    code = first_error(code, run_calls(timing, 1));
    count_runs(timing, 1);
    return first_error(code, call_hook(timing->operation->hooks.after, timing->call));
}

/* After the rounds of a stage without an error. */
static void inspect_rounds(const struct timing *timing, bool looks) {
    if (looks)
        timing->checks->inspect_at_return(timing->setting);
    if (timing->checks)
        timing->checks->inspect_stage(timing->setting);
    compare_data(timing, STAGE_WINDOW_BYTES);
    compare_receipts(timing);
}

static int run_stage(const struct timing *timing, const struct start *start, const struct stage_plan *stage_plan,
                     int64_t first_round, struct moment *moments) {
    int64_t (*const read_ns)(void) = timing->world->source->read_ns;
    struct stage stage = {
        .team = timing->team,
        .read_ns = read_ns,
        .first_ns = stage_plan->first_ns,
        .window_ns = stage_plan->window_ns,
        .slack_ns = stage_plan->slack_ns + timing->gap_ns,
        .group = stage_plan->group,
        .rest = stage_plan->rest,
        .tolerance_ns = stage_plan->tolerance_ns,
        .yields = timing->world->yields,
        .next_ns = stage_plan->first_ns - stage_plan->lead * stage_plan->window_ns,
    };
    const bool arrives = start->scheduled && timing->spread_ns > 0, changes = buffers_change(timing->buffers);
    const int rounds = stage_plan->rounds + (stage_plan->looks != 0);
    int code = MPI_SUCCESS;
    memset(moments, 0, sizeof *moments * (size_t)(stage_plan->lead + rounds));
    for (int round = -stage_plan->lead; round < rounds && !code; round++) {
        const bool extra = round == stage_plan->rounds;
        stage.calls = round == -stage_plan->lead || stage_plan->calls_between;
        if (arrives)
            stage.delay_ns = find_delay_ns(timing, first_round + round);
        code = prepare_round(timing, changes, extra);
        const bool in_time = start->begin(&stage, round);
        if (timing->gap_ns > 0 && !start->scheduled)
            wait_gap(timing);
        const int64_t begin_ns = start->scheduled ? stage.begin_ns : timing->measures ? read_ns() : 0;
        code = first_error(code, run_calls(timing, extra ? 1 : stage_plan->repeats));
        moments[stage_plan->lead + round] = (struct moment){
            .common_ns = stage.common_ns,
            .begin_ns = begin_ns,
            .end_ns = timing->measures ? read_ns() : begin_ns,
            .delay_ns = (float)stage.delay_ns,
            .state = (in_time ? 0 : ROUND_LATE) | (stage.skipped ? ROUND_SKIPPED : 0),
        };
        count_runs(timing, extra ? 1 : stage_plan->repeats);
        code = first_error(code, call_hook(timing->operation->hooks.after, timing->call));
        if (!extra && !code) {
            compare_data(timing, ROUND_WINDOW_BYTES);
            compare_receipts(timing);
            if (stage_plan->calls_between)
                give_progress(timing->team);
        }
    }
    if (!code)
        inspect_rounds(timing, stage_plan->looks);
    return code;
}

/* A rank without a part in the case takes part only in starts that need all ranks. */
static int skip_stage(const struct timing *timing, const struct start *start, const struct stage_plan *stage_plan,
                      struct moment *moments) {
    struct stage stage = {.team = timing->team, .read_ns = timing->world->source->read_ns, .yields = true, .calls = true};
    const bool needed = !start->loops && (!start->scheduled || start->agrees);
    for (int round = -stage_plan->lead; round < stage_plan->rounds + (stage_plan->looks != 0); round++) {
        if (needed)
            start->begin(&stage, round);
        moments[stage_plan->lead + round] = (struct moment){.state = 0};
    }
    return MPI_SUCCESS;
}

/* Time of one call: from the common start, or from the rank's own start. */
static struct sample make_sample(const struct timing *timing, const struct start *start, int repeats,
                                 const struct moment *moment) {
    const struct clock *clock = timing->team->clock;
    const bool measures = timing->measures;
    const struct reading at_begin = find_offset(clock, moment->begin_ns), at_end = find_offset(clock, moment->end_ns);
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
        .error_ns = compared ? (float)at_begin.likely_ns : 0,
        .delay_ns = moment->delay_ns,
        .last_rank = timing->team->rank,
        .state = moment->state,
        .timed = measures,
        .total_ns = measures ? (float)time_ns : 0,
    };
}

double find_run_ns(const struct timing *timing, double time_ns) {
    return time_ns * timing->rounds * timing->legs;
}

void make_samples(const struct timing *timing, const struct measurement *measurement, int64_t from, int count,
                  struct sample *into) {
    for (int i = 0; i < count; i++)
        into[i] = make_sample(timing, timing->start, measurement->repeats, &measurement->moments[from + i]);
}

static void merge_samples(void *into, const void *from, int bytes) {
    struct sample *local = into;
    const struct sample *theirs = from;
    for (int i = 0; i < bytes / (int)sizeof *local; i++) {
        struct sample merged = theirs[i].time_ns > local[i].time_ns ? theirs[i] : local[i];
        merged.first_ns = theirs[i].first_ns < local[i].first_ns ? theirs[i].first_ns : local[i].first_ns;
        merged.last_ns = theirs[i].last_ns > local[i].last_ns ? theirs[i].last_ns : local[i].last_ns;
        merged.delay_ns = theirs[i].delay_ns > local[i].delay_ns ? theirs[i].delay_ns : local[i].delay_ns;
        merged.bound_ns = theirs[i].bound_ns > local[i].bound_ns ? theirs[i].bound_ns : local[i].bound_ns;
        merged.error_ns = theirs[i].error_ns > local[i].error_ns ? theirs[i].error_ns : local[i].error_ns;
        merged.state = local[i].state | theirs[i].state;
        merged.timed = local[i].timed + theirs[i].timed;
        merged.total_ns = local[i].total_ns + theirs[i].total_ns;
        merged.common_ns = local[i].common_ns == NO_MOMENT ? theirs[i].common_ns : local[i].common_ns;
        if (theirs[i].common_ns != NO_MOMENT && theirs[i].common_ns != merged.common_ns)
            merged.state |= ROUND_LATE;
        local[i] = merged;
    }
}

void merge_samples_up(const struct timing *timing, struct sample *samples, int count) {
    tree_combine(timing->team, samples, (int)sizeof *samples * count, merge_samples);
    for (int i = 0; i < count; i++) {
        samples[i].time_ns -= samples[i].delay_ns;
        samples[i].total_ns -= samples[i].delay_ns * (float)samples[i].timed;
    }
}

void record_single(const struct timing *timing, struct measurement *into, double value) {
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
    into->sample_count = into->valid = 1;
    into->stopped = STOPPED_SAMPLES;
}

int time_stage(const struct timing *timing, const struct start *start, const struct stage_plan *stage_plan,
               struct measurement *into, struct sample *samples) {
    struct moment moments[MOST_LEAD + MOST_ROUNDS + 1];
    const int rounds = stage_plan->lead + stage_plan->rounds;
    const int code = timing->team->idle ? skip_stage(timing, start, stage_plan, moments)
                                        : run_stage(timing, start, stage_plan, into ? into->sample_count : 0, moments);
    if (code && code != CALL_MISSING)
        watch_error(timing->operation->name, code);
    for (int i = 0; i < rounds; i++) {
        samples[i] = make_sample(timing, start, stage_plan->repeats, &moments[i]);
        if (timing->measures && start->scheduled && !start->agrees &&
            find_run_ns(timing, samples[i].time_ns) > (double)stage_plan->window_ns)
            moments[i].state |= ROUND_OVERRUN;
        moments[i].state |= code ? ROUND_FAILED : 0;
        samples[i].state = moments[i].state;
    }
    for (int i = 0; into && i < stage_plan->rounds && into->sample_count + i < into->capacity; i++)
        into->moments[into->sample_count + i] = moments[stage_plan->lead + i];
    merge_samples_up(timing, samples, rounds);
    return code;
}
