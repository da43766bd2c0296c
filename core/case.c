/* One case from its buffers to its samples: prepare, check the data, time, check again, put away. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"

enum { SEED_STEP = 1000003, LEAST_COLD_BYTES = 8 << 20 };

/* How one rank fared; the worst of all ranks decides. */
struct outcome {
    int32_t severity;
    int32_t rank;
    int32_t migrated;
    int64_t drift_ns;
    char reason[LINE_BYTES / 2];
};

enum { GOOD, LACKING, REFUSED, FAILED, WRONG_DATA };
static const char *const statuses[] = {"ok", "lacking", "refused", "failed", "wrong-data"};

static void merge_outcomes(void *into, const void *from, int bytes) {
    (void)bytes;
    struct outcome *mine = into;
    const struct outcome *theirs = from;
    struct outcome merged = theirs->severity > mine->severity ? *theirs : *mine;
    merged.migrated = mine->migrated | theirs->migrated;
    merged.drift_ns = mine->drift_ns > theirs->drift_ns ? mine->drift_ns : theirs->drift_ns;
    *mine = merged;
}

static void note(struct outcome *outcome, int severity, const char *text) {
    if (severity <= outcome->severity)
        return;
    outcome->severity = severity;
    snprintf(outcome->reason, sizeof outcome->reason, "%s", text);
}

static void note_code(struct outcome *outcome, int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "", line[sizeof outcome->reason];
    int length = 0;
    if (code == MPI_SUCCESS)
        return;
    if (code == CALL_MISSING) {
        snprintf(line, sizeof line, "%s is not in this library", last_missing_call);
        note(outcome, LACKING, line);
        return;
    }
    MPI_Error_string(code, text, &length);
    snprintf(line, sizeof line, "rank %d, %s: %.150s", outcome->rank, what, text);
    note(outcome, FAILED, line);
}

/* Tells every rank of the team the worst outcome so far, so that all go the same way. */
static bool all_well(const struct team *team, struct outcome *outcome) {
    tree_combine(team, outcome, sizeof *outcome, merge_outcomes);
    tree_broadcast(team, outcome, sizeof *outcome);
    outcome->rank = team->rank;
    return outcome->severity == GOOD;
}

/* --- what is asked for --- */

static struct memory memory_of(const struct wanted *wanted) {
    return (struct memory){
        .cold = strcmp(wanted->cache, "cold") == 0,
        .in_place = strcmp(wanted->buffers, "in-place") == 0,
        .untouched = strcmp(wanted->pages, "untouched") == 0,
        .huge = strcmp(wanted->pages, "huge") == 0,
        .alignment = (long)wanted->alignment,
        .root = (int)wanted->root,
    };
}

static double free_memory(void) {
    char line[LINE_BYTES];
    double kib = -1;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    return kib < 0 ? 1e30 : kib * 1024;
}

static void check_room(const struct world *world, const struct call *call, double needed, struct outcome *outcome) {
    char line[LINE_BYTES / 2];
    needed *= world->ranks_on_host;
    if (call->bytes / call->datatype->bytes > INT32_MAX) {
        snprintf(line, sizeof line, "%ld bytes are more than 2^31-1 elements of %s", call->bytes, call->datatype->name);
        note(outcome, REFUSED, line);
    } else if (needed > 0.8 * free_memory()) {
        snprintf(line, sizeof line, "buffers of %.1f GiB on this host do not fit in the %.1f GiB of memory that are free",
                 needed / (1 << 30), free_memory() / (1 << 30));
        note(outcome, REFUSED, line);
    }
}

static void check_sense(const struct plan *plan, const struct call *call, struct outcome *outcome) {
    char line[LINE_BYTES / 2];
    const struct memory memory = memory_of(plan->wanted);
    const char *const name = plan->operation->name;
    if (memory.in_place && !plan->operation->in_place)
        snprintf(line, sizeof line, "%s cannot be done in place", name);
    else if (memory.root != 0 && !plan->operation->rooted)
        snprintf(line, sizeof line, "%s has no root", name);
    else if (memory.root >= call->ranks)
        snprintf(line, sizeof line, "root %d is none of the %d ranks", memory.root, call->ranks);
    else if (plan->form == PERSISTENT && (memory.cold || memory.root == ROTATING))
        snprintf(line, sizeof line, "a persistent request keeps its %s from call to call", memory.cold ? "buffers" : "root");
    else
        return;
    note(outcome, REFUSED, line);
}

/* --- calls --- */

static int run_nonblocking(struct call *call) {
    const int code = call->initiate(call);
    return code ? code : MPI_Wait(call->requests, MPI_STATUS_IGNORE);
}

static int run_persistent(struct call *call) {
    const int code = MPI_Start(call->requests);
    return code ? code : MPI_Wait(call->requests, MPI_STATUS_IGNORE);
}

static int (*runner(const struct plan *plan))(struct call *) {
    if (plan->form == PERSISTENT)
        return run_persistent;
    return plan->form == NONBLOCKING && !plan->operation->completes ? run_nonblocking : plan->operation->forms[plan->form];
}

/* --- data checks --- */

static void inspect(const struct plan *plan, const struct call *call, const struct buffers *buffers, struct outcome *outcome) {
    struct mismatch mismatch = {0};
    char line[LINE_BYTES / 2];
    if (plan->operation->check)
        plan->operation->check(call, &mismatch);
    if (mismatch.wrong_bytes > 0) {
        snprintf(line, sizeof line, "rank %d: %ld of %ld received bytes are wrong, the first at offset %ld: 0x%02x, not 0x%02x",
                 call->rank, mismatch.wrong_bytes, call->receive_bytes, mismatch.offset, mismatch.found, mismatch.expected);
        note(outcome, WRONG_DATA, line);
    } else if (!guards_stand(buffers)) {
        snprintf(line, sizeof line, "rank %d: bytes outside the receive buffer were overwritten", call->rank);
        note(outcome, WRONG_DATA, line);
    }
}

/* All that one case needs on this rank. */
struct setting {
    const struct world *world;
    const struct team *team;
    const struct plan *plan;
    struct call *call;
    struct buffers *buffers;
    struct outcome *outcome;
};

/* One call with fresh data. */
static void try_call(const struct setting *setting) {
    setting->call->seed += SEED_STEP;
    fill_buffers(setting->buffers, setting->call);
    const int code = runner(setting->plan)(setting->call);
    note_code(setting->outcome, code, setting->plan->operation->name);
    if (code == MPI_SUCCESS)
        inspect(setting->plan, setting->call, setting->buffers, setting->outcome);
}

/* Twice with different data, so that what was left from the first call cannot pass for the second one's result. */
static void rehearse(const struct setting *setting) {
    for (int turn = 0; turn < 2 && all_well(setting->team, setting->outcome); turn++) {
        if (setting->buffers->memory.root == ROTATING)
            take_root(setting->buffers, setting->call, turn % setting->call->ranks);
        try_call(setting);
    }
}

/* What timing left behind must be right; where it leaves nothing that can be checked, one more call must be. */
static void check_again(const struct setting *setting) {
    if (leaves_data(setting->buffers))
        inspect(setting->plan, setting->call, setting->buffers, setting->outcome);
    else
        try_call(setting);
}

/* --- the case --- */

static int64_t change_of_offset(const struct clock *clock, const struct measurement *measurement) {
    if (measurement->taken == 0)
        return 0;
    const double first_ns = known(clock, measurement->moments[0].begin_ns).offset_ns;
    const double last_ns = known(clock, measurement->moments[measurement->taken - 1].end_ns).offset_ns;
    return llround(fabs(last_ns - first_ns));
}

static void time_case(const struct setting *setting, const struct timing *timing, struct measurement *measurement) {
    struct outcome *outcome = setting->outcome;
    const int cpu = sched_getcpu();
    forget(setting->team->clock);
    fill_for_timing(setting->buffers, setting->call);
    note_code(outcome, measure(timing, measurement), setting->plan->operation->name);
    outcome->drift_ns = change_of_offset(setting->team->clock, measurement);
    outcome->migrated = sched_getcpu() != cpu;
    if (!all_well(setting->team, outcome))
        return;
    check_again(setting);
    if (setting->team->rank == 0 && measurement->valid == 0)
        note(outcome, FAILED, "no round began in time on all ranks (more ranks than cores?); start=barrier needs no clock");
}

static void prepare_and_time(const struct setting *setting, const struct timing *timing, struct measurement *measurement) {
    struct call *call = setting->call;
    call->initiate = setting->plan->operation->forms[setting->plan->form];
    if (setting->plan->form == PERSISTENT)
        note_code(setting->outcome, call->initiate(call), "initialisation");
    rehearse(setting);
    if (all_well(setting->team, setting->outcome)) {
        time_case(setting, timing, measurement);
        all_well(setting->team, setting->outcome);
    }
    if (setting->plan->form == PERSISTENT && call->requests[0] != MPI_REQUEST_NULL)
        note_code(setting->outcome, MPI_Request_free(call->requests), "MPI_Request_free");
}

static struct call make_call(const struct plan *plan, const struct team *team, MPI_Comm comm) {
    const struct operation *operation = plan->operation;
    const long bytes = (long)plan->wanted->bytes;
    const struct datatype *datatype = find_datatype(plan->wanted->datatype);
    return (struct call){
        .comm = comm,
        .rank = team->rank,
        .ranks = team->ranks,
        .bytes = bytes,
        .count = (int)(bytes / datatype->bytes),
        .datatype = datatype,
        .messages = operation->messages ? operation->messages : 1,
    };
}

/* What this rank rotates through if its buffers are to be cold: all ranks of a host together, twice the cache they share. */
static long cold_share(const struct world *world) {
    const int64_t share = 2 * world->last_level_cache_bytes / world->ranks_on_host;
    return (long)(share > LEAST_COLD_BYTES ? share : LEAST_COLD_BYTES);
}

static void take_memory(const struct setting *setting) {
    char reason[REASON_BYTES];
    const long needed = plan_buffers(setting->buffers, setting->call, cold_share(setting->world));
    check_room(setting->world, setting->call, (double)needed, setting->outcome);
    if (setting->outcome->severity == GOOD && !make_buffers(setting->buffers, reason))
        note(setting->outcome, REFUSED, reason);
}

static void take_part(const struct setting *setting, const struct timing *timing, struct measurement *measurement) {
    struct call *call = setting->call;
    call->requests = calloc((size_t)call->messages, sizeof *call->requests);
    for (int i = 0; i < call->messages; i++)
        call->requests[i] = MPI_REQUEST_NULL;
    check_sense(setting->plan, call, setting->outcome);
    if (setting->outcome->severity == GOOD)
        take_memory(setting);
    if (all_well(setting->team, setting->outcome)) {
        const int root = setting->buffers->memory.root;
        take_root(setting->buffers, call, root == ROTATING ? 0 : root);
        prepare_and_time(setting, timing, measurement);
    }
    free(call->requests);
    free_buffers(setting->buffers);
}

/* One rank after the other hands its samples to rank 0, which writes them down at once. */
struct handing {
    const struct teller *teller;
    const struct result *result;
};

static void take_series(void *context, int rank, const void *data) {
    const struct handing *handing = context;
    write_rank_series(handing->teller->stream, rank, data, handing->result);
}

static void tell(const struct timing *timing, const struct teller *teller, const struct result *result) {
    const bool leads = timing->team->rank == 0, ranks = timing->world->every_rank && !result->single;
    int64_t taken = strcmp(result->status, "ok") == 0 ? result->measurement.taken : 0;
    tree_broadcast(timing->team, &taken, sizeof taken);
    if (leads)
        write_result(teller->stream, teller->index, timing->wanted, result);
    if (ranks && taken > 0) {
        struct sample *samples = malloc(sizeof *samples * (size_t)taken);
        struct handing handing = {teller, result};
        score(timing, &result->measurement, 0, (int)taken, samples);
        for (int64_t i = 0; i < taken && timing->start->scheduled; i++)
            samples[i].first_ns = result->measurement.moments[i].common_ns;
        hand_over(timing->team, samples, (int)(taken * (int64_t)sizeof *samples), take_series, &handing);
        free(samples);
    }
    if (leads)
        end_result(teller->stream);
}

static struct plan make_plan(const struct wanted *wanted) {
    struct plan plan = {.operation = find_operation(wanted->operation), .start = find_start(wanted->start), .wanted = wanted};
    for (int form = 0; form < FORMS; form++)
        if (strcmp(form_names[form], wanted->form) == 0)
            plan.form = (enum form)form;
    return plan;
}

static bool reserve(struct measurement *measurement, const struct stop *stop, bool leads) {
    measurement->capacity = most_tries(stop) + MOST_STAGE;
    measurement->moments = malloc(sizeof *measurement->moments * (size_t)measurement->capacity);
    if (leads)
        measurement->samples = malloc(sizeof *measurement->samples * (size_t)measurement->capacity);
    return measurement->moments && (measurement->samples || !leads);
}

static void finish(struct result *result, const struct outcome *outcome, const struct measurement *measurement) {
    result->status = statuses[outcome->severity];
    snprintf(result->reason, sizeof result->reason, "%s", outcome->reason);
    result->drift_ns = outcome->drift_ns;
    result->migrated = outcome->migrated;
    double worst_ns = 0;
    for (int64_t i = 0; measurement->samples && i < measurement->taken; i++)
        worst_ns = fmax(worst_ns, measurement->samples[i].bound_ns);
    result->sync_bound_ns = (int64_t)ceil(worst_ns * between_two(result));
}

static void run_in_team(const struct world *world, const struct team *team, const struct plan *plan, struct result *result,
                        const struct teller *teller) {
    struct outcome outcome = {.rank = team->rank};
    struct call call = make_call(plan, team, world->operations);
    struct buffers buffers = {.memory = memory_of(plan->wanted), .operation = plan->operation};
    const struct setting setting = {world, team, plan, &call, &buffers, &outcome};
    const struct timing timing = {
        .team = team,
        .world = world,
        .operation = plan->operation,
        .start = plan->start,
        .stop = &plan->wanted->stop,
        .wanted = plan->wanted,
        .call = &call,
        .buffers = &buffers,
        .run = runner(plan),
        .compares = plan->start->scheduled || !plan->operation->rank_0_measures,
    };
    if (world->every_rank && most_tries(timing.stop) > INT32_MAX / (int64_t)sizeof(struct sample) - MOST_STAGE)
        note(&outcome, REFUSED, "too many samples to keep those of every rank");
    else if (!reserve(&result->measurement, timing.stop, team->rank == 0))
        note(&outcome, REFUSED, "the system gave no memory for so many samples");
    take_part(&setting, &timing, &result->measurement);
    finish(result, &outcome, &result->measurement);
    if (teller->wanted)
        tell(&timing, teller, result);
}

/* Where too few ranks are there, rank 0 says so. */
static void refuse(const struct world *world, const struct plan *plan, struct result *result, const struct teller *teller) {
    result->status = statuses[REFUSED];
    snprintf(result->reason, sizeof result->reason, "%s needs %d ranks, there is %d", plan->operation->name, result->ranks,
             world->all.ranks);
    if (world->all.rank == 0 && teller->wanted) {
        write_result(teller->stream, teller->index, plan->wanted, result);
        end_result(teller->stream);
    }
}

double between_two(const struct result *result) {
    return result->ranks > 2 ? 2 : 1;
}

struct result run_case(const struct world *world, const struct wanted *wanted, const struct teller *teller) {
    const struct plan plan = make_plan(wanted);
    const int exactly = plan.operation->ranks_exactly;
    struct result result = {
        .status = statuses[GOOD],
        .ranks = exactly ? exactly : world->all.ranks,
        .single = plan.operation->rank_0_measures,
    };
    if (world->all.ranks < exactly)
        refuse(world, &plan, &result, teller);
    else if (world->all.rank < result.ranks)
        run_in_team(world, exactly == 2 ? &world->pair : &world->all, &plan, &result, teller);
    return result;
}
