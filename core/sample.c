/* The only timing loop of the project, and how it is steered.
 *
 *   warm-up (not scored)      stage                          stage
 *   |.. ........|  talk  |lead|r|r|r|r|r|r|r|r|  talk  |lead|r|r|r|r|...
 *
 * Within a stage ranks exchange nothing but what the operation itself sends. Between stages they merge their samples up a
 * tree, and rank 0 decides: enough, or when the next stage begins, how long its windows are and how many rounds it has.
 * The first rounds of a stage are not scored, because the talk before them leaves its traces in caches and queues. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { LEAD = 2, FEW_ROUNDS = 8, MOST_ROUNDS = 128, MOST_REPEATS = 64, TRIES_PER_SAMPLE = 4 };
enum { LEAST_WARM_UP_NS = 1000000, ROUND_FAILED = 4 };
static const double MOST_WARM_UP = 0.1;
/* How many times its time limit a case may last that has no valid sample yet. */
static const double PATIENCE = 9;

/* What rank 0 tells the others to do next; no rounds: nothing. */
struct agenda {
    int64_t first_ns;
    int64_t window_ns;
    int32_t rounds;
    int32_t repeats;
};

struct control {
    struct agenda agenda;
    int64_t began_ns;
    int64_t margin_ns;
    double estimate_ns;
};

static inline int first_error(int before, int now) {
    return before ? before : now;
}

static int run_stage(const struct timing *timing, const struct start *start, const struct agenda *agenda,
                     struct sample *samples) {
    int64_t (*const read_ns)(void) = timing->world->source->read_ns;
    int (*const run)(struct call *) = timing->run;
    struct call *const call = timing->call;
    struct stage stage = {
        .team = timing->team,
        .read_ns = read_ns,
        .offset_ns = timing->offset_ns,
        .first_ns = agenda->first_ns,
        .window_ns = agenda->window_ns,
        .yields = timing->world->yields,
    };
    /* A rank whose times are not wanted reads no clock: it would keep the other one waiting. */
    const bool measures = timing->team->rank == 0 || !timing->operation->rank_0_measures;
    int code = MPI_SUCCESS;
    for (int round = -LEAD; round < agenda->rounds; round++) {
        const bool in_time = start->begin(&stage, round);
        const int64_t from_ns = start->scheduled ? stage.target_ns : measures ? read_ns() : 0;
        for (int repeat = 0; repeat < agenda->repeats; repeat++)
            code = first_error(code, run(call));
        samples[LEAD + round] = (struct sample){
            .time_ns = measures ? (double)(read_ns() - from_ns) : -1,
            .last_rank = stage.team->rank,
            .state = in_time ? 0 : ROUND_LATE,
        };
    }
    return code;
}

/* Names what was wrong with a round, and makes its time that of one call. */
static void finish_stage(const struct start *start, const struct agenda *agenda, int code, struct sample *samples) {
    for (int i = 0; i < LEAD + agenda->rounds; i++) {
        if (start->scheduled && samples[i].time_ns > (double)agenda->window_ns)
            samples[i].state |= ROUND_OVERRUN;
        samples[i].state |= code ? ROUND_FAILED : 0;
        samples[i].time_ns /= agenda->repeats;
    }
}

static void merge_samples(void *into, const void *from, int bytes) {
    struct sample *mine = into;
    const struct sample *theirs = from;
    for (int i = 0; i < bytes / (int)sizeof *mine; i++) {
        const int32_t state = mine[i].state | theirs[i].state;
        if (theirs[i].time_ns > mine[i].time_ns)
            mine[i] = theirs[i];
        mine[i].state = state;
    }
}

static int stage(const struct timing *timing, const struct start *start, const struct agenda *agenda,
                 struct sample *samples) {
    const int code = run_stage(timing, start, agenda, samples);
    finish_stage(start, agenda, code, samples);
    tree_combine(timing->team, samples, (int)sizeof *samples * (LEAD + agenda->rounds), merge_samples);
    return code;
}

static int by_time(const void *left, const void *right) {
    const double a = ((const struct sample *)left)->time_ns, b = ((const struct sample *)right)->time_ns;
    return (a > b) - (a < b);
}

static double quantile(const struct sample *samples, int count, double share) {
    struct sample sorted[LEAD + MOST_ROUNDS];
    memcpy(sorted, samples, sizeof *samples * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, by_time);
    return sorted[(int)(share * (count - 1))].time_ns;
}

/* Calls begin after a barrier while nothing is known of their length; the first window and the repeats follow from it. Goes
 * on while calls still become faster, since a library may set up its connections for long after the first message. */
static int warm_up(const struct timing *timing, struct control *control, struct sample *samples) {
    const struct start *start = timing->start->scheduled ? find_start("barrier") : timing->start;
    const int64_t began_ns = timing->world->source->read_ns();
    int code = MPI_SUCCESS;
    control->agenda = (struct agenda){.rounds = FEW_ROUNDS, .repeats = 1};
    while (control->agenda.rounds > 0) {
        const double before_ns = control->estimate_ns;
        code = first_error(code, stage(timing, start, &control->agenda, samples));
        control->estimate_ns = quantile(samples + LEAD, control->agenda.rounds, 0.9);
        const double spent_ns = (double)(timing->world->source->read_ns() - began_ns);
        const bool settled = before_ns > 0 && control->estimate_ns > 0.9 * before_ns && spent_ns > LEAST_WARM_UP_NS;
        control->agenda.rounds = MOST_ROUNDS / 2;
        if (settled || spent_ns > MOST_WARM_UP * timing->limit_s * 1e9)
            control->agenda.rounds = 0;
        tree_broadcast(timing->team, control, sizeof *control);
    }
    return code;
}

static int limit(double value, int least, int most) {
    return value < least ? least : value > most ? most : (int)value;
}

static void record(struct measurement *into, const struct sample *samples, int count, bool halved) {
    for (int i = 0; i < count && into->taken < into->capacity; i++) {
        struct sample *sample = &into->samples[into->taken++];
        *sample = samples[i];
        if (halved)
            sample->time_ns /= 2;
        into->late += (sample->state & ROUND_LATE) != 0;
        into->overrun += !(sample->state & ROUND_LATE) && (sample->state & ROUND_OVERRUN);
    }
}

static int count_state(const struct sample *samples, int count, int state) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += (samples[i].state & state) != 0;
    return found;
}

/* Bad rounds make windows longer and stages shorter, since one long interruption spoils the rest of its stage. Where most
 * rounds are bad, the warm-up has misled, and the window must find its length quickly. */
static void learn(struct control *control, const struct sample *samples) {
    const int rounds = control->agenda.rounds;
    const int bad = count_state(samples + LEAD, rounds, ROUND_LATE | ROUND_OVERRUN);
    const bool restless = bad * 20 > rounds;
    const bool misled = bad * 2 > rounds;
    if (samples[0].state & ROUND_LATE && control->margin_ns < 1000000000)
        control->margin_ns *= 2;
    if (restless)
        control->agenda.window_ns += misled ? control->agenda.window_ns : control->agenda.window_ns / 5;
    control->agenda.rounds = limit(restless ? rounds / 2 : rounds * 2, FEW_ROUNDS, MOST_ROUNDS);
}

static void decide(const struct timing *timing, struct control *control, const struct measurement *so_far, bool failed) {
    struct agenda *agenda = &control->agenda;
    const int64_t now_ns = timing->world->source->read_ns();
    const double left_ns = timing->limit_s * 1e9 - (double)(now_ns - control->began_ns);
    const double round_ns = timing->start->scheduled ? (double)agenda->window_ns : control->estimate_ns * agenda->repeats;
    const int64_t valid = so_far->taken - so_far->late;
    const int64_t lacking = timing->wanted_samples - valid;
    const double least_left_ns = valid > 0 ? 0 : -PATIENCE * timing->limit_s * 1e9;
    if (failed || lacking <= 0 || left_ns <= least_left_ns ||
        so_far->taken >= TRIES_PER_SAMPLE * timing->wanted_samples + MOST_ROUNDS) {
        agenda->rounds = 0;
        return;
    }
    agenda->rounds = limit((double)lacking, 1, agenda->rounds);
    agenda->rounds = limit(left_ns / (round_ns + 1), 1, agenda->rounds);
    agenda->first_ns = now_ns + control->margin_ns + LEAD * agenda->window_ns;
}

int measure(const struct timing *timing, struct measurement *into) {
    struct sample samples[LEAD + MOST_ROUNDS];
    const bool leads = timing->team->rank == 0;
    const bool halved = strcmp(timing->operation->metric, "latency") == 0;
    struct control control = {.margin_ns = 20000};
    int code = warm_up(timing, &control, samples);
    bool failed = count_state(samples, LEAD, ROUND_FAILED) != 0;
    control.began_ns = timing->world->source->read_ns();
    control.agenda.window_ns = (int64_t)(1.5 * control.estimate_ns) + 500;
    control.agenda.rounds = FEW_ROUNDS;
    if (timing->start->loops && !timing->operation->rank_0_measures)
        control.agenda.repeats = limit(1e5 / (control.estimate_ns + 1), 1, MOST_REPEATS);
    for (;;) {
        if (leads)
            decide(timing, &control, into, failed);
        tree_broadcast(timing->team, &control.agenda, sizeof control.agenda);
        if (control.agenda.rounds == 0)
            return code;
        code = first_error(code, stage(timing, timing->start, &control.agenda, samples));
        if (leads) {
            failed = count_state(samples, LEAD, ROUND_FAILED) != 0;
            record(into, samples + LEAD, control.agenda.rounds, halved);
            learn(&control, samples);
        }
    }
}
