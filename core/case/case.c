/* One case: prepare, check data, time, check again, free, write. */
#include "case/case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/float_mode.h"
#include "base/registry.h"
#include "base/startup.h"
#include "base/time_parts.h"
#include "base/tree.h"
#include "case/cvars.h"
#include "case/fallback.h"
#include "case/prepare.h"
#include "case/quantities.h"
#include "case/validity.h"
#include "output/stream.h"
#include "sync/clock.h"
#include "timing/rounds.h"
#include "timing/stop.h"
#include "timing/thread_team.h"
#include "timing/watchdog.h"
#include "verify/check.h"
#include "verify/evidence.h"
#include "verify/rehearsal.h"

static void copy_layout(const struct layout *layout, struct result *result) {
    const size_t bytes = layout && layout->order ? (size_t)layout->ranks * sizeof(int) : 0;
    if (!layout)
        return;
    result->layout = *layout;
    result->layout.order = result->order = bytes ? obtain_memory(bytes) : NULL;
    if (result->order)
        memcpy(result->order, layout->order, bytes);
}

static void rehearse_and_time(const struct setting *setting, struct timing *timing, struct result *result) {
    switch_part(PART_REHEARSE);
    watch_fallback(setting->plan->request->settings);
    timing->run = choose_timed_run(setting);
    timing->long_ns = rehearse(setting);
    end_fallback_watch(setting->outcome);
    if (timing->long_ns == 0)
        check_other_calls(setting);
    if (!all_ranks_good(setting->team, setting->outcome) || setting->world->probes || has_single_value(setting))
        return;
    struct thread_team *thread_team = NULL;
    if (setting->threads > 1 &&
        !(thread_team = start_threads(&setting->workers->call, sizeof *setting->workers, setting->threads, timing->run)))
        note(setting->outcome, REFUSED, "the system gave no threads");
    if (thread_team)
        timing->run = run_threads;
    if (all_ranks_good(setting->team, setting->outcome))
        time_case(setting, timing, result);
    join_threads(thread_team);
}

/* Calls keep the processor's mode, as the calling conventions of all systems require. */
static void compare_modes(const struct setting *setting, struct float_mode before) {
    const struct float_mode after = read_float_mode();
    char mode[FLOAT_MODE_BYTES];
    if (is_same_mode(before, after))
        return;
    describe_mode(after, mode);
    note(setting->outcome, WRONG_DATA, "rank %d: calls of the case changed the processor's floating-point mode, to %s",
         setting->team->rank, mode);
    set_float_mode(before);
}

static void prepare_and_time(const struct setting *setting, struct timing *timing, struct result *result) {
    const int64_t held_before = has_single_value(setting) ? read_memory_bytes() : 0;
    const struct float_mode mode = read_float_mode();
    make_communicators(setting);
    if (all_ranks_good(setting->team, setting->outcome) && !setting->team->idle)
        EACH_WORKER(worker, setting)
            prepare_worker(setting, worker);
    if (!setting->team->idle && setting->outcome->severity == GOOD)
        count_moves(setting);
    if (timing->operation->hooks.measures)
        timing->measures =
            !setting->team->idle && setting->outcome->severity == GOOD && timing->operation->hooks.measures(first_call(setting));
    copy_layout(first_call(setting)->layout, result);
    rehearse_and_time(setting, timing, result);
    switch_part(PART_FREE);
    if (has_single_value(setting) && setting->outcome->severity == GOOD) {
        setting->outcome->growth_bytes = read_memory_bytes() - held_before;
        record_value(setting, timing, &result->measurement);
    }
    compare_modes(setting, mode);
    all_ranks_good(setting->team, setting->outcome);
    if (!setting->team->idle)
        EACH_WORKER(worker, setting)
            finish_worker(setting, worker);
    free_communicators(setting);
}

static void run_on_rank(const struct setting *setting, struct timing *timing, struct result *result) {
    EACH_WORKER(worker, setting)
        make_worker(setting, worker);
    if (setting->outcome->severity == GOOD && !setting->team->idle)
        check_validity(setting);
    if (setting->outcome->severity == GOOD && !setting->team->idle)
        plan_memory(setting);
    if (all_ranks_good(setting->team, setting->outcome) && !setting->team->idle)
        allocate_memory(setting);
    if (all_ranks_good(setting->team, setting->outcome))
        prepare_and_time(setting, timing, result);
    EACH_WORKER(worker, setting)
        free_worker(worker);
}

/* --- showing --- */

/* Samples of each rank go to rank 0, which writes them at once. */
struct series_writer {
    const struct writer *writer;
    const struct result *result;
};

static void write_one_series(void *context, int rank, const void *data) {
    const struct series_writer *series_writer = context;
    const struct sample *samples = data;
    if (samples->time_ns >= 0)
        write_rank_series(series_writer->writer->stream, rank, data, series_writer->result);
}

static void write_case(const struct timing *timing, const struct writer *writer, const struct result *result) {
    const struct evidence *evidence;
    const bool each = timing->world->every_rank || timing->operation->hooks.measures;
    const bool leads = timing->team->rank == 0, ranks = each && result->measurer == SERIES_ALL;
    int64_t sample_count =
        result->outcome.severity == GOOD && result->measurement.repeats > 0 ? result->measurement.sample_count : 0;
    watch_phase("is written");
    switch_part(PART_WRITE);
    tree_broadcast(timing->team, &sample_count, sizeof sample_count);
    if (result->outcome.severity == WRONG_DATA && (evidence = share_evidence(timing->team, result->outcome.noted_by)))
        write_evidence(writer->stream, writer->index, evidence);
    if (leads)
        write_result(writer->stream, writer->index, timing->request, result);
    if (ranks && sample_count > 0) {
        struct sample *samples = obtain_memory(sizeof *samples * (size_t)sample_count);
        struct series_writer series_writer = {writer, result};
        make_samples(timing, &result->measurement, 0, (int)sample_count, samples);
        for (int64_t i = 0; i < sample_count && timing->start->scheduled; i++) {
            samples[i].first_ns = result->measurement.moments[i].common_ns;
            samples[i].time_ns -= samples[i].delay_ns;
        }
        gather_ranks(timing->team, samples, (int)(sample_count * (int64_t)sizeof *samples), write_one_series, &series_writer);
        free(samples);
    }
    if (leads)
        end_result(writer->stream);
}

/* --- the ranks that take part --- */

static struct plan make_plan(const struct request *request, struct last_visit last) {
    struct plan plan = {
        .operation = find_operation(request->operation), .start = find_start(request->start), .request = request, .last = last};
    const struct choice *choices[MOST_CHOICES];
    const int count = list_choices(plan.operation, choices);
    for (int i = 0; i < count; i++)
        plan.choices[i] = (struct choice_value){choices[i], request->values[i]};
    for (int form = 0; form < FORMS; form++)
        if (strcmp(form_names[form], request->form) == 0)
            plan.form = (enum form)form;
    return plan;
}

static void fill_result(struct result *result, const struct outcome *outcome) {
    const struct measurement *measurement = &result->measurement;
    double worst_ns = 0;
    result->outcome = *outcome;
    if (outcome->migrated)
        snprintf(result->moved, sizeof result->moved, "rank %d from CPU %d to CPU %d", outcome->moved_rank, outcome->moved_from,
                 outcome->moved_to);
    for (int64_t i = 0; measurement->samples && i < measurement->sample_count; i++)
        worst_ns = fmax(worst_ns, measurement->samples[i].bound_ns);
    result->sync_bound_ns = (int64_t)ceil(worst_ns * result->bound_factor);
}

/* Offsets are against rank 0's clock, so with two clocks one is exact. With more clocks a time is the largest over
 * ranks, and so is its error: the largest of n normal errors is sqrt(2 ln n) standard deviations, and an estimated
 * error is two of them. */
static double find_error_factor(int clocks) {
    return clocks > 2 ? fmax(sqrt(2), sqrt(log(clocks) / 2)) : 1;
}

static int64_t find_spread_ns(const struct call *call) {
    return read_choice(call, &arrival_choice) == ARRIVE_TOGETHER ? 0 : 1000 * read_choice(call, &spread_choice);
}

static struct timing make_timing(const struct setting *setting, const struct call *call) {
    const struct operation *operation = setting->plan->operation;
    const struct team *team = setting->team;
    const int measurer = operation->ranks.between_two ? call->peers.first : 0;
    return (struct timing){
        .team = team,
        .world = setting->world,
        .operation = operation,
        .start = setting->plan->start,
        .stop = &setting->plan->request->stop,
        .last = setting->plan->last,
        .request = setting->plan->request,
        .call = first_call(setting),
        .buffers = &setting->workers->buffers,
        .rounds = (operation->timing.rounds ? operation->timing.rounds : 1) * (setting->threads > 1 ? THREAD_ROUNDS : 1),
        .legs = operation->metric == METRIC_LATENCY ? 2 : 1,
        .measures = !team->idle && (team->rank == measurer || !operation->timing.rank_0_measures),
        .arrival = read_choice(call, &arrival_choice),
        .spread_ns = find_spread_ns(call),
        .gap_ns = 1000 * read_choice(call, &gap_choice),
        .compares = setting->plan->start->scheduled || !(operation->timing.rank_0_measures || operation->hooks.measures),
    };
}

static void run_in_team(const struct world *world, const struct team *team, const struct plan *plan, struct result *result,
                        const struct writer *writer) {
    struct outcome outcome = {.rank = team->rank};
    const struct call call = make_call(plan, team);
    const int threads = (int)read_choice(&call, &threads_choice);
    struct setting setting = {world, team, plan, obtain_memory(sizeof(struct worker) * (size_t)threads), threads, &outcome};
    struct timing timing = make_timing(&setting, &call);
    begin_evidence();
    result->spread_ns = timing.spread_ns;
    result->bound_factor = team->clock->number_of_clocks > 2 ? 2 : 1;
    result->error_factor = find_error_factor(team->clock->number_of_clocks);
    if ((world->every_rank || plan->operation->hooks.measures) &&
        count_most_tries(timing.stop) > INT32_MAX / (int64_t)sizeof(struct sample) - MOST_STAGE)
        note(&outcome, REFUSED, "too many samples to store those of every rank");
    else if (!allocate_samples(&result->measurement, timing.stop, team->rank == 0))
        note_no_memory(&outcome, &result->measurement);
    struct cvars *cvars = *plan->request->settings ? set_cvars(plan->request->settings, &outcome) : NULL;
    run_on_rank(&setting, &timing, result);
    if (cvars)
        restore_cvars(cvars);
    free(setting.workers);
    fill_result(result, &outcome);
    if (writer->writes)
        write_case(&timing, writer, result);
}

/* Notes whether ranks are missing; the same on every rank. */
static void check_ranks(const struct world *world, const struct plan *plan, const struct call *call, struct outcome *outcome) {
    const struct operation *operation = plan->operation;
    const int ranks = world->all.ranks, first = call->peers.first, second = call->peers.second,
              least = operation->ranks.between_two || operation->ranks.in_pairs ? 2 : operation->ranks.least;
    const int takes = operation->hooks.takes ? operation->hooks.takes(call) : 0;
    if (takes > ranks)
        note(outcome, REFUSED, "the grid needs %d ranks, there %s %d", takes, ranks == 1 ? "is" : "are", ranks);
    else if (ranks < least)
        note(outcome, REFUSED, "%s needs %d ranks, there %s %d", operation->name, least, ranks == 1 ? "is" : "are", ranks);
    else if (operation->ranks.between_two && (first >= ranks || second >= ranks || first == second))
        note(outcome, REFUSED, "%s needs two different ranks of the %d, not %d and %d", operation->name, ranks, first, second);
}

/* Rank 0 reports that ranks are missing. */
static void write_refusal(const struct world *world, const struct plan *plan, const struct result *result,
                          const struct writer *writer) {
    if (world->all.rank == 0 && writer->writes) {
        write_result(writer->stream, writer->index, plan->request, result);
        end_result(writer->stream);
    }
}

/* The team of the case. Two ranks other than 0 and 1 work within the team of all ranks, where the others sleep. */
static struct team find_team(const struct world *world, const struct plan *plan, const struct call *call) {
    const bool first_two = call->peers.first < 2 && call->peers.second < 2;
    struct team team = world->all;
    if (plan->operation->ranks.in_pairs)
        team = world->even;
    else if (plan->operation->ranks.between_two && first_two)
        team = world->pair;
    else if (plan->operation->ranks.between_two)
        team.idle = team.rank != call->peers.first && team.rank != call->peers.second;
    team.takes = plan->operation->hooks.takes ? plan->operation->hooks.takes(call) : 0;
    return team;
}

/* Reduces a team to its first ranks: the others sleep, and calls use a communicator of the first ones. */
static void exclude_ranks(struct team *team) {
    MPI_Comm working;
    team->idle = team->rank >= team->takes;
    abort_on_error(MPI_Comm_split(team->members, team->idle ? MPI_UNDEFINED : 0, team->rank, &working), "MPI_Comm_split");
    team->calls = team->members = working;
}

static int count_ranks(const struct world *world, const struct plan *plan, const struct team *team) {
    const int all = world->all.ranks;
    if (team->takes > 0)
        return team->takes;
    return plan->operation->ranks.between_two ? 2 : plan->operation->ranks.in_pairs ? all / 2 * 2 : all;
}

struct result run_case(const struct world *world, const struct request *request, struct last_visit last,
                       const struct writer *writer) {
    const struct plan plan = make_plan(request, last);
    const struct call call = make_call(&plan, &world->all);
    struct team team = find_team(world, &plan, &call);
    struct result result = {
        .outcome.severity = GOOD,
        .ranks = count_ranks(world, &plan, &team),
        .measurer = !plan.operation->timing.rank_0_measures ? SERIES_ALL
                    : plan.operation->ranks.between_two     ? call.peers.first
                                                            : 0,
    };
    check_ranks(world, &plan, &call, &result.outcome);
    if (result.outcome.severity != GOOD)
        write_refusal(world, &plan, &result, writer);
    else if (team.ranks > 0) {
        const bool is_subset = team.takes > 0 && team.takes < team.ranks;
        if (is_subset)
            exclude_ranks(&team);
        run_in_team(world, &team, &plan, &result, writer);
        if (is_subset && !team.idle)
            abort_on_error(MPI_Comm_free(&team.members), "MPI_Comm_free");
    }
    return result;
}
