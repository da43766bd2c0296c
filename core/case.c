/* One case from its buffers to its samples: prepare, check the data, time, check again, put away. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "case.h"
#include "choices.h"
#include "clock.h"
#include "core.h"
#include "crew.h"
#include "facts.h"
#include "job.h"
#include "memory.h"
#include "overlap.h"
#include "registry.h"
#include "room.h"
#include "sample.h"
#include "startup.h"
#include "steady.h"
#include "stop.h"
#include "stream.h"
#include "tree.h"
#include "watchdog.h"
#include "world.h"

enum { SEED_STEP = 1000003, LEAST_COLD_BYTES = 8 << 20 };
/* A first call may take a while to set up what others use; one that takes longer than this and than its time limit is long. */
static const double LONG_CALL_NS = 1e9;

/* How one rank fared; the worst of all ranks decides. */
struct outcome {
    int32_t severity;
    int32_t rank;
    int32_t migrated;
    int64_t drift_ns;
    int64_t moved_bytes, moved_messages;
    int64_t growth_bytes;
    /* Of the first rank that did: from which CPU it went to which other. */
    int32_t moved_rank, moved_from, moved_to;
    char reason[LINE_BYTES / 2];
};

enum { GOOD, LACKING, REFUSED, FAILED, WRONG_DATA };
static const char *const statuses[] = {"ok", "lacking", "refused", "failed", "wrong-data"};

static int64_t largest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void merge_outcomes(void *into, const void *from, int bytes) {
    (void)bytes;
    struct outcome *mine = into;
    const struct outcome *theirs = from;
    struct outcome merged = theirs->severity > mine->severity ? *theirs : *mine;
    merged.migrated = mine->migrated | theirs->migrated;
    const struct outcome *moved = mine->migrated && (!theirs->migrated || mine->moved_rank < theirs->moved_rank) ? mine : theirs;
    merged.moved_rank = moved->moved_rank;
    merged.moved_from = moved->moved_from;
    merged.moved_to = moved->moved_to;
    merged.drift_ns = largest(mine->drift_ns, theirs->drift_ns);
    merged.moved_bytes = largest(mine->moved_bytes, theirs->moved_bytes);
    merged.moved_messages = largest(mine->moved_messages, theirs->moved_messages);
    merged.growth_bytes = largest(mine->growth_bytes, theirs->growth_bytes);
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
    for (char *end; (end = strchr(text, '\n'));)
        *end = ' ';
    snprintf(line, sizeof line, "rank %d, %s: %.150s", outcome->rank, what, text);
    note(outcome, FAILED, line);
    watch_failed(what, code);
}

/* Tells every rank of the team the worst outcome so far, so that all go the same way. */
static bool all_well(const struct team *team, struct outcome *outcome) {
    tree_combine(team, outcome, sizeof *outcome, merge_outcomes);
    tree_broadcast(team, outcome, sizeof *outcome);
    outcome->rank = team->rank;
    return outcome->severity == GOOD;
}

static int fewer(int a, int b) {
    return a < b ? a : b;
}

/* --- what is asked for --- */

/* What one thread of this rank needs; there is one more than one only where threads are measured. */
struct worker {
    struct call call;
    struct buffers buffers;
    struct work work;
};

/* All that one case needs on this rank. */
struct setting {
    const struct world *world;
    const struct team *team;
    const struct plan *plan;
    struct worker *workers;
    int threads;
    struct outcome *outcome;
};

static struct call *first_call(const struct setting *setting) {
    return &setting->workers->call;
}

#define EACH_WORKER(worker, setting) \
    for (struct worker *worker = (setting)->workers; worker < (setting)->workers + (setting)->threads; worker++)

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

static int64_t chosen_of(const struct setting *setting, const struct choice *choice) {
    return chosen(first_call(setting), choice);
}

static void check_room(const struct setting *setting, double needed) {
    char line[LINE_BYTES / 2];
    const struct call *call = first_call(setting);
    needed *= fewer(setting->world->ranks_on_host, setting->team->ranks);
    if (!setting->plan->operation->large && call->large_count > INT32_MAX) {
        snprintf(line, sizeof line, "%ld bytes are more than 2^31-1 elements of %s", call->bytes, call->datatype->name);
        note(setting->outcome, REFUSED, line);
    } else if (needed > 0.8 * free_memory()) {
        snprintf(line, sizeof line, "buffers of %.1f GiB on this host do not fit in the %.1f GiB of memory that are free",
                 needed / (1 << 30), free_memory() / (1 << 30));
        note(setting->outcome, REFUSED, line);
    }
}

/* Why the state of memory makes no sense for the operation; NULL: it does. */
static const char *senseless_memory(const struct setting *setting, char line[LINE_BYTES / 2]) {
    const struct memory memory = memory_of(setting->plan->wanted);
    const struct operation *operation = setting->plan->operation;
    const bool keeps = setting->plan->form == PERSISTENT || operation->keeps_buffers || setting->threads > 1;
    if (memory.in_place && !operation->in_place)
        snprintf(line, LINE_BYTES / 2, "%s cannot be done in place", operation->name);
    else if (memory.root != 0 && !operation->rooted)
        snprintf(line, LINE_BYTES / 2, "%s has no root", operation->name);
    else if (memory.root >= first_call(setting)->ranks)
        snprintf(line, LINE_BYTES / 2, "root %d is none of the %d ranks", memory.root, first_call(setting)->ranks);
    else if (keeps && (memory.cold || memory.root == ROTATING))
        snprintf(line, LINE_BYTES / 2, "%s keeps its %s from call to call",
                 setting->threads > 1 ? "a thread" : "a persistent request", memory.cold ? "buffers" : "root");
    else
        return NULL;
    return line;
}

static const char *senseless_quantity(const struct setting *setting) {
    const struct plan *plan = setting->plan;
    const int64_t quantity = chosen_of(setting, &quantity_choice);
    if (quantity == QUANTITY_OVERLAP && (plan->form == BLOCKING || plan->operation->completes))
        return "nothing can be computed during a call that returns only when all is done";
    if (quantity != QUANTITY_TIME && setting->threads > 1)
        return "of several threads only the time is measured";
    if (quantity != QUANTITY_TIME && setting->team->ranks > 2 && plan->operation->between_two)
        return "of two ranks other than 0 and 1 only the time is measured";
    return NULL;
}

static const char *senseless_start(const struct setting *setting) {
    if (chosen_of(setting, &arrival_choice) != ARRIVE_TOGETHER && !setting->plan->start->scheduled)
        return "ranks can only come at chosen times where a start is scheduled (start=window or roundtime)";
    return NULL;
}

static const char *senseless_numbers(const struct setting *setting) {
    const struct call *call = first_call(setting);
    if (setting->plan->operation->datatypes != NUMBERS || call->datatype->basic == MPI_INT)
        return NULL;
    return reduces_whole_numbers_only(chosen_of(setting, &reduction_choice)) ? "this reduction is of integers only" : NULL;
}

static const char *senseless(const struct setting *setting, char line[LINE_BYTES / 2]) {
    const struct operation *operation = setting->plan->operation;
    const char *why = senseless_memory(setting, line);
    why = why ? why : senseless_quantity(setting);
    why = why ? why : senseless_start(setting);
    why = why ? why : senseless_numbers(setting);
    if (!why && setting->threads > 1)
        why = no_threads();
    return why || !operation->refuses ? why : operation->refuses(first_call(setting));
}

/* --- calls --- */

static int run_whole(struct call *call) {
    const int code = begin_call(call);
    return code ? code : complete_call(call);
}

static int (*runner(const struct plan *plan))(struct call *) {
    return plan->form == BLOCKING || plan->operation->completes ? plan->operation->forms[plan->form] : run_whole;
}

/* --- data checks --- */

static void tell_mismatch(const struct setting *setting, const struct call *call, const struct mismatch *mismatch) {
    char line[LINE_BYTES / 2];
    if (call->receive_bytes > 0)
        snprintf(line, sizeof line, "rank %d: %ld of %ld received bytes are wrong, the first at offset %ld: 0x%02x, not 0x%02x",
                 call->rank, mismatch->wrong_bytes, call->receive_bytes, mismatch->offset, mismatch->found, mismatch->expected);
    else
        snprintf(line, sizeof line, "rank %d: what the call left behind is wrong: 0x%02x, not 0x%02x", call->rank,
                 mismatch->found, mismatch->expected);
    note(setting->outcome, WRONG_DATA, line);
}

static void inspect_one(const struct setting *setting, const struct worker *worker) {
    struct mismatch mismatch = {0};
    char line[LINE_BYTES / 2];
    check_buffers(&worker->buffers, &worker->call, &mismatch);
    if (mismatch.wrong_bytes > 0) {
        tell_mismatch(setting, &worker->call, &mismatch);
    } else if (!guards_stand(&worker->buffers)) {
        snprintf(line, sizeof line, "rank %d: bytes outside the receive buffer were overwritten", worker->call.rank);
        note(setting->outcome, WRONG_DATA, line);
    } else if (!send_stands(&worker->buffers)) {
        snprintf(line, sizeof line, "rank %d: the send buffer, or what lies behind it, was written to", worker->call.rank);
        note(setting->outcome, WRONG_DATA, line);
    }
}

static void inspect(const struct setting *setting) {
    if (!setting->team->idle)
        EACH_WORKER(worker, setting)
            inspect_one(setting, worker);
}

static void call_once(const struct setting *setting, struct worker *worker) {
    const struct operation *operation = setting->plan->operation;
    struct call *call = &worker->call;
    int code = operation->before ? operation->before(call) : MPI_SUCCESS;
    code = code ? code : runner(setting->plan)(call);
    code = code || !operation->after ? code : operation->after(call);
    note_code(setting->outcome, code, operation->name);
}

/* A persistent request keeps the place that its message leaves from. */
static bool tells_apart(const struct plan *plan, const struct call *call) {
    return plan->operation->resends && plan->form != PERSISTENT && !call->datatype->make;
}

/* One call with fresh data; returns how long it took. Nobody calls before all have filled, and nobody looks before all have
 * returned: a rank whose memory others reach into may not notice either. */
static double try_call(const struct setting *setting) {
    if (!setting->team->idle)
        EACH_WORKER(worker, setting) {
            worker->call.seed += SEED_STEP;
            worker->call.apart = tells_apart(setting->plan, &worker->call);
            fill_buffers(&worker->buffers, &worker->call);
        }
    dissemination_barrier(setting->team);
    const int64_t began_ns = steady_ns();
    if (!setting->team->idle)
        EACH_WORKER(worker, setting)
            call_once(setting, worker);
    dissemination_barrier(setting->team);
    const int64_t ended_ns = steady_ns();
    if (setting->outcome->severity == GOOD)
        inspect(setting);
    return (double)(ended_ns - began_ns);
}

static bool rotates(const struct setting *setting) {
    return setting->workers->buffers.memory.root == ROTATING;
}

static bool is_long(const struct setting *setting, double call_ns) {
    return !setting->world->probes && call_ns > LONG_CALL_NS && call_ns > setting->plan->wanted->stop.limit_s * 1e9;
}

/* Twice with different data, so that what was left from the first call cannot pass for the second one's result. Where one call
 * spends the time limit, the second is the one that is timed; how long the first took is returned then, else 0. */
static double rehearse(const struct setting *setting) {
    for (int turn = 0; turn < 2 && all_well(setting->team, setting->outcome); turn++) {
        if (rotates(setting))
            take_root(&setting->workers->buffers, first_call(setting), turn % first_call(setting)->ranks);
        watch_phase("is rehearsed");
        double call_ns = try_call(setting);
        tree_broadcast(setting->team, &call_ns, sizeof call_ns);
        if (is_long(setting, call_ns))
            return call_ns;
    }
    return 0;
}

/* What timing left behind must be right, and so must one more call with other data: a library that stopped doing anything
 * would have left what an earlier call brought. */
static void check_again(const struct setting *setting, const struct timing *timing) {
    watch_phase("is checked");
    if (leaves_data(&setting->workers->buffers))
        inspect(setting);
    if (all_well(setting->team, setting->outcome) && timing->long_ns == 0)
        try_call(setting);
}

/* --- quantities --- */

static int64_t change_of_offset(const struct clock *clock, const struct measurement *measurement) {
    if (measurement->taken == 0)
        return 0;
    const double first_ns = known(clock, measurement->moments[0].begin_ns).offset_ns;
    const double last_ns = known(clock, measurement->moments[measurement->taken - 1].end_ns).offset_ns;
    return llround(fabs(last_ns - first_ns));
}

static bool reserve(struct measurement *measurement, const struct stop *stop, bool leads) {
    measurement->capacity = most_tries(stop) + MOST_STAGE;
    measurement->moments = malloc(sizeof *measurement->moments * (size_t)measurement->capacity);
    if (leads)
        measurement->samples = malloc(sizeof *measurement->samples * (size_t)measurement->capacity);
    return measurement->moments && (measurement->samples || !leads);
}

static void release(struct measurement *measurement) {
    free(measurement->samples);
    free(measurement->moments);
}

/* Measures something that is only needed for its median. */
static double measure_median(const struct setting *setting, const struct timing *timing, int (*run)(struct call *)) {
    struct measurement measurement = {.taken = 0};
    struct timing other = *timing;
    double median = 0;
    other.run = run;
    if (!reserve(&measurement, timing->stop, timing->team->rank == 0))
        note(setting->outcome, REFUSED, "the system gave no memory for so many samples");
    if (all_well(setting->team, setting->outcome)) {
        note_code(setting->outcome, measure(&other, &measurement), setting->plan->operation->name);
        if (timing->team->rank == 0)
            median = median_ns(&other, &measurement);
    }
    tree_broadcast(timing->team, &median, sizeof median);
    release(&measurement);
    return median;
}

/* --- what measuring costs --- */

enum { MOST_COSTS = 64, COST_SAMPLES = 200 };
static const double COST_LIMIT_S = 0.02;

static struct cost {
    const struct start *start;
    int ranks;
    bool alone;
    double ns;
} costs[MOST_COSTS];
static int known_costs;

static int run_nothing(struct call *call) {
    (void)call;
    return MPI_SUCCESS;
}

/* What is measured of a call that does nothing, with the same start on as many ranks: once a launch, and then remembered. Every
 * rank asks in the same order, so that all remember the same. */
static double cost_of_sample(const struct setting *setting, const struct timing *timing) {
    const bool alone = timing->operation->rank_0_measures;
    for (int i = 0; i < known_costs; i++)
        if (costs[i].start == timing->start && costs[i].ranks == timing->team->ranks && costs[i].alone == alone)
            return costs[i].ns;
    /* What follows a round keeps the core from timing several at once. */
    const struct operation nothing = {
        .name = "nothing", .kind = "self-test", .metric = "time", .rank_0_measures = alone, .after = run_nothing};
    const struct stop stop = {.samples = COST_SAMPLES, .limit_s = COST_LIMIT_S};
    struct buffers none = {.slots = 1};
    struct timing other = *timing;
    other.operation = &nothing;
    other.stop = &stop;
    other.buffers = &none;
    other.renew = NULL;
    other.rounds = other.legs = 1;
    other.long_ns = 0;
    other.spread_ns = 0;
    other.compares = false;
    const double ns = measure_median(setting, &other, run_nothing);
    if (known_costs < MOST_COSTS)
        costs[known_costs++] = (struct cost){timing->start, timing->team->ranks, alone, ns};
    return ns;
}

/* Of one sample. */
static double cost_ns(const struct setting *setting, const struct timing *timing, int repeats) {
    return cost_of_sample(setting, timing) / (repeats * timing->rounds * timing->legs);
}

/* --- the case is timed --- */

/* The communication alone, a computation as long, and both at once. */
static int measure_overlap(const struct setting *setting, const struct timing *timing, struct result *result) {
    struct worker *worker = setting->workers;
    struct stop stop = *timing->stop;
    struct timing part = *timing;
    const double asked_ns = (double)chosen_of(setting, &compute_choice) * 1000;
    stop.limit_s /= 3;
    part.stop = &stop;
    result->pure_ns = measure_median(setting, &part, timing->run);
    worker->work.steps = steps_of(asked_ns > 0 ? asked_ns : result->pure_ns, setting->world->source->read_ns);
    worker->work.parts = (int)chosen_of(setting, &tests_choice) + 1;
    worker->call.work = &worker->work;
    part.renew = NULL; /* A computation brings no data. */
    result->compute_ns = measure_median(setting, &part, run_computation);
    part.renew = timing->renew;
    part.run = run_overlapped;
    return measure(&part, &result->measurement);
}

/* A time over which its clock was set is no time. */
static void check_clock(const struct setting *setting, const struct twin_reading *before) {
    char line[LINE_BYTES / 2];
    const struct source *source = setting->world->source;
    const int64_t jumped_ns = jump_ns(before, source);
    snprintf(line, sizeof line, "rank %d: %s was set %s by %.3f s meanwhile; clock=auto takes one that never is",
             setting->team->rank, source->name, jumped_ns < 0 ? "back" : "forward", fabs((double)jumped_ns) / 1e9);
    if (jumped_ns != 0)
        note(setting->outcome, FAILED, line);
}

static void renew(const void *context) {
    const struct setting *setting = context;
    if (!setting->team->idle)
        EACH_WORKER(worker, setting) {
            worker->call.seed += SEED_STEP;
            worker->call.apart = false;
            fill_for_timing(&worker->buffers, &worker->call);
        }
}

static void look(const void *context) {
    inspect(context);
}

static void time_case(const struct setting *setting, struct timing *timing, struct result *result) {
    struct outcome *outcome = setting->outcome;
    struct measurement *measurement = &result->measurement;
    const int cpu = sched_getcpu();
    const struct twin_reading before = read_both(setting->world->source);
    forget(setting->team->clock);
    const int64_t began_ns = steady_ns();
    renew(setting);
    dissemination_barrier(setting->team);
    timing->renewing_ns = (double)(steady_ns() - began_ns);
    timing->setting = setting;
    timing->renew = can_renew(&setting->workers->buffers) ? renew : NULL;
    timing->look = look;
    const bool overlaps = chosen_of(setting, &quantity_choice) == QUANTITY_OVERLAP;
    note_code(outcome, overlaps ? measure_overlap(setting, timing, result) : measure(timing, measurement),
              setting->plan->operation->name);
    check_clock(setting, &before);
    outcome->drift_ns = setting->team->idle ? 0 : change_of_offset(setting->team->clock, measurement);
    outcome->moved_rank = setting->team->rank;
    outcome->moved_from = cpu_before(cpu);
    outcome->moved_to = sched_getcpu();
    outcome->migrated = outcome->moved_to != outcome->moved_from;
    if (!all_well(setting->team, outcome))
        return;
    check_again(setting, timing);
    if (setting->threads == 1)
        result->cost_ns = cost_ns(setting, timing, measurement->repeats);
    if (setting->team->rank == 0 && measurement->valid == 0)
        note(outcome, REFUSED, timing->start->scheduled
                                   ? "no round began in time on all ranks (more ranks than cores?); start=barrier needs no clock"
                                   : "no round ended within the time limit");
}

/* What happens once has one sample; so has memory, which is held from the first use on. */
static bool is_single(const struct setting *setting) {
    return setting->plan->operation->once_ns || chosen_of(setting, &quantity_choice) == QUANTITY_MEMORY;
}

static void take_value(const struct setting *setting, const struct timing *timing, struct measurement *measurement) {
    if (chosen_of(setting, &quantity_choice) == QUANTITY_MEMORY)
        take_single(timing, measurement, (double)(startup_bytes() + setting->outcome->growth_bytes));
    else
        take_single(timing, measurement, (double)setting->plan->operation->once_ns());
}

/* --- what a case needs --- */

static int make_type(struct call *call) {
    const struct datatype *datatype = call->datatype;
    const bool derived = datatype->make && call->bytes > 0;
    call->type = datatype->make ? MPI_BYTE : datatype->basic;
    call->extent = derived ? datatype->extent(call->bytes) : call->bytes;
    call->large_count = derived ? 1 : call->bytes / datatype->bytes;
    call->count = (int)call->large_count;
    if (!derived)
        return MPI_SUCCESS;
    const int code = datatype->make(call->bytes, &call->type);
    return code ? code : MPI_Type_commit(&call->type);
}

static bool is_made(const struct call *call) {
    return call->datatype->make && call->type != MPI_BYTE && call->type != MPI_DATATYPE_NULL;
}

static int count_all(const struct operation *operation, const struct call *call) {
    const int messages = operation->count_messages ? operation->count_messages(call) : operation->messages;
    return messages > 0 ? messages : 1;
}

static struct call make_call(const struct plan *plan, const struct team *team) {
    struct call call = {
        .comm = team->calls,
        .members = team->members,
        .rank = team->rank,
        .ranks = team->takes > 0 ? team->takes : team->ranks,
        .form = plan->form,
        .bytes = (long)plan->wanted->bytes,
        .datatype = find_datatype(plan->wanted->datatype),
        .type = MPI_DATATYPE_NULL,
        .reduction = MPI_OP_NULL,
        .pending = 1,
        .initiate = plan->operation->forms[plan->form],
        .chosen = plan->chosen,
    };
    const int root = (int)plan->wanted->root;
    call.first = (int)chosen(&call, &from_choice);
    call.second = (int)chosen(&call, &to_choice);
    call.root = plan->operation->between_two ? call.first : root == ROTATING ? 0 : root;
    call.messages = count_all(plan->operation, &call);
    return call;
}

static void make_worker(const struct setting *setting, struct worker *worker) {
    struct call *call = &worker->call;
    *call = make_call(setting->plan, setting->team);
    worker->buffers = (struct buffers){.memory = memory_of(setting->plan->wanted), .operation = setting->plan->operation};
    call->requests = calloc((size_t)call->messages + 2, sizeof *call->requests);
    for (int i = 0; i < call->messages + 2; i++)
        call->requests[i] = MPI_REQUEST_NULL;
    if (!setting->team->idle)
        note_code(setting->outcome, make_type(call), "the datatype");
    call->seed = (unsigned)(worker - setting->workers) * SEED_STEP / 2;
}

/* What this rank rotates through if its buffers are to be cold: all ranks of the team together, twice the cache they share. */
static long cold_share(const struct setting *setting) {
    const struct world *world = setting->world;
    const int64_t share = 2 * world->last_level_cache_bytes / fewer(world->ranks_on_cache, setting->team->ranks);
    return (long)(share > LEAST_COLD_BYTES ? share : LEAST_COLD_BYTES);
}

static void plan_memory(const struct setting *setting) {
    double needed = 0;
    EACH_WORKER(worker, setting)
        needed += (double)plan_buffers(&worker->buffers, &worker->call, cold_share(setting));
    check_room(setting, needed);
}

static void take_memory(const struct setting *setting) {
    char reason[REASON_BYTES];
    EACH_WORKER(worker, setting)
        if (setting->outcome->severity == GOOD && !make_buffers(&worker->buffers, reason))
            note(setting->outcome, REFUSED, reason);
}

/* Threads call on communicators of their own, as the standard asks of collectives, and memory is that of a fresh one. */
static bool needs_communicators(const struct setting *setting) {
    return setting->threads > 1 || chosen_of(setting, &quantity_choice) == QUANTITY_MEMORY;
}

static void take_communicators(const struct setting *setting) {
    if (needs_communicators(setting) && setting->team->members != MPI_COMM_NULL)
        EACH_WORKER(worker, setting) {
            MPI_Comm own = MPI_COMM_NULL;
            note_code(setting->outcome, MPI_Comm_dup(setting->team->members, &own), "MPI_Comm_dup");
            worker->call.comm = worker->call.members = own;
        }
}

static void prepare_worker(const struct setting *setting, struct worker *worker) {
    const struct plan *plan = setting->plan;
    struct call *call = &worker->call;
    note_code(setting->outcome, make_reduction(chosen(call, &reduction_choice), &call->reduction), "MPI_Op_create");
    take_root(&worker->buffers, call, call->root);
    if (plan->operation->prepare)
        note_code(setting->outcome, plan->operation->prepare(call), "preparation");
    take_root(&worker->buffers, call, call->root);
    if (plan->form == PERSISTENT && !plan->operation->completes && setting->outcome->severity == GOOD)
        note_code(setting->outcome, call->initiate(call), "initialisation");
}

static void default_moves(const struct setting *setting) {
    const struct operation *operation = setting->plan->operation;
    const struct call *call = first_call(setting);
    const int64_t others = operation->between_two ? 1 : call->ranks - 1;
    const int64_t bytes = amounts_of(operation, call, true).receive_bytes + others * amounts_of(operation, call, false).receive_bytes;
    const int64_t messages = call->bytes > 0 ? bytes / call->bytes : call->messages;
    setting->outcome->moved_bytes = setting->threads * (call->moved_messages ? call->moved_bytes : bytes);
    setting->outcome->moved_messages = setting->threads * (call->moved_messages ? call->moved_messages : messages);
}

static void keep_layout(const struct layout *layout, struct result *result) {
    const size_t bytes = layout && layout->order ? (size_t)layout->ranks * sizeof(int) : 0;
    if (!layout)
        return;
    result->layout = *layout;
    result->layout.order = result->order = bytes ? malloc(bytes) : NULL;
    if (result->order)
        memcpy(result->order, layout->order, bytes);
}

static void leave_worker(const struct setting *setting, struct worker *worker) {
    const struct plan *plan = setting->plan;
    struct call *call = &worker->call;
    if (plan->form == PERSISTENT && !plan->operation->completes)
        for (int i = 0; i < call->pending; i++)
            if (call->requests[i] != MPI_REQUEST_NULL)
                note_code(setting->outcome, MPI_Request_free(&call->requests[i]), "MPI_Request_free");
    if (plan->operation->finish)
        plan->operation->finish(call);
    free_reduction(chosen(call, &reduction_choice), &call->reduction);
}

static void leave_communicators(const struct setting *setting) {
    if (needs_communicators(setting) && setting->team->members != MPI_COMM_NULL)
        EACH_WORKER(worker, setting)
            if (worker->call.comm != MPI_COMM_NULL)
                must(MPI_Comm_free(&worker->call.comm), "MPI_Comm_free");
}

static void free_worker(struct worker *worker) {
    if (is_made(&worker->call))
        MPI_Type_free(&worker->call.type);
    free(worker->call.requests);
    free_buffers(&worker->buffers);
}

/* --- the case --- */

static void rehearse_and_time(const struct setting *setting, struct timing *timing, struct result *result) {
    timing->long_ns = rehearse(setting);
    if (!all_well(setting->team, setting->outcome) || setting->world->probes || is_single(setting))
        return;
    struct crew *crew = NULL;
    if (setting->threads > 1 && !(crew = gather_crew(&setting->workers->call, sizeof *setting->workers, setting->threads, timing->run)))
        note(setting->outcome, REFUSED, "the system gave no threads");
    if (crew)
        timing->run = run_crew;
    if (all_well(setting->team, setting->outcome))
        time_case(setting, timing, result);
    dismiss_crew(crew);
}

static void prepare_and_time(const struct setting *setting, struct timing *timing, struct result *result) {
    const int64_t held_before = is_single(setting) ? held_bytes() : 0;
    take_communicators(setting);
    if (all_well(setting->team, setting->outcome) && !setting->team->idle)
        EACH_WORKER(worker, setting)
            prepare_worker(setting, worker);
    if (!setting->team->idle && setting->outcome->severity == GOOD)
        default_moves(setting);
    if (timing->operation->measures)
        timing->measures = !setting->team->idle && setting->outcome->severity == GOOD && timing->operation->measures(first_call(setting));
    keep_layout(first_call(setting)->layout, result);
    rehearse_and_time(setting, timing, result);
    if (is_single(setting) && setting->outcome->severity == GOOD) {
        setting->outcome->growth_bytes = held_bytes() - held_before;
        take_value(setting, timing, &result->measurement);
    }
    all_well(setting->team, setting->outcome);
    if (!setting->team->idle)
        EACH_WORKER(worker, setting)
            leave_worker(setting, worker);
    leave_communicators(setting);
}

static void take_part(const struct setting *setting, struct timing *timing, struct result *result) {
    char line[LINE_BYTES / 2];
    const char *why = NULL;
    EACH_WORKER(worker, setting)
        make_worker(setting, worker);
    if (setting->outcome->severity == GOOD && !setting->team->idle)
        why = senseless(setting, line);
    if (why)
        note(setting->outcome, REFUSED, why);
    if (setting->outcome->severity == GOOD && !setting->team->idle)
        plan_memory(setting);
    /* Nobody takes memory before all have seen how much there is. */
    if (all_well(setting->team, setting->outcome) && !setting->team->idle)
        take_memory(setting);
    if (all_well(setting->team, setting->outcome))
        prepare_and_time(setting, timing, result);
    EACH_WORKER(worker, setting)
        free_worker(worker);
}

/* One rank after the other hands its samples to rank 0, which writes them down at once. */
struct handing {
    const struct teller *teller;
    const struct result *result;
};

static void take_series(void *context, int rank, const void *data) {
    const struct handing *handing = context;
    const struct sample *samples = data;
    if (samples->time_ns >= 0)
        write_rank_series(handing->teller->stream, rank, data, handing->result);
}

static void tell(const struct timing *timing, const struct teller *teller, const struct result *result) {
    const bool each = timing->world->every_rank || timing->operation->measures;
    const bool leads = timing->team->rank == 0, ranks = each && result->measurer == SERIES_ALL;
    int64_t taken = strcmp(result->status, "ok") == 0 && result->measurement.repeats > 0 ? result->measurement.taken : 0;
    watch_phase("is written");
    tree_broadcast(timing->team, &taken, sizeof taken);
    if (leads)
        write_result(teller->stream, teller->index, timing->wanted, result);
    if (ranks && taken > 0) {
        struct sample *samples = malloc(sizeof *samples * (size_t)taken);
        struct handing handing = {teller, result};
        score(timing, &result->measurement, 0, (int)taken, samples);
        for (int64_t i = 0; i < taken && timing->start->scheduled; i++) {
            samples[i].first_ns = result->measurement.moments[i].common_ns;
            samples[i].time_ns -= samples[i].delay_ns;
        }
        hand_over(timing->team, samples, (int)(taken * (int64_t)sizeof *samples), take_series, &handing);
        free(samples);
    }
    if (leads)
        end_result(teller->stream);
}

static struct plan make_plan(const struct wanted *wanted) {
    struct plan plan = {.operation = find_operation(wanted->operation), .start = find_start(wanted->start), .wanted = wanted};
    const struct choice *choices[MOST_CHOICES];
    const int count = choices_of(plan.operation, choices);
    for (int i = 0; i < count; i++)
        plan.chosen[i] = (struct chosen){choices[i], wanted->values[i]};
    for (int form = 0; form < FORMS; form++)
        if (strcmp(form_names[form], wanted->form) == 0)
            plan.form = (enum form)form;
    return plan;
}

static void finish(struct result *result, const struct outcome *outcome, const struct measurement *measurement) {
    result->status = statuses[outcome->severity];
    snprintf(result->reason, sizeof result->reason, "%s", outcome->reason);
    result->drift_ns = outcome->drift_ns;
    if (outcome->migrated)
        snprintf(result->moved, sizeof result->moved, "rank %d from CPU %d to CPU %d", outcome->moved_rank, outcome->moved_from,
                 outcome->moved_to);
    result->moved_bytes = outcome->moved_bytes;
    result->moved_messages = outcome->moved_messages;
    result->growth_bytes = outcome->growth_bytes;
    double worst_ns = 0;
    for (int64_t i = 0; measurement->samples && i < measurement->taken; i++)
        worst_ns = fmax(worst_ns, measurement->samples[i].bound_ns);
    result->sync_bound_ns = (int64_t)ceil(worst_ns * result->bound_factor);
}

static int64_t spread_ns(const struct call *call) {
    return chosen(call, &arrival_choice) == ARRIVE_TOGETHER ? 0 : 1000 * chosen(call, &spread_choice);
}

static struct timing make_timing(const struct setting *setting, const struct call *call) {
    const struct operation *operation = setting->plan->operation;
    const struct team *team = setting->team;
    const int measurer = operation->between_two ? call->first : 0;
    return (struct timing){
        .team = team,
        .world = setting->world,
        .operation = operation,
        .start = setting->plan->start,
        .stop = &setting->plan->wanted->stop,
        .wanted = setting->plan->wanted,
        .call = first_call(setting),
        .buffers = &setting->workers->buffers,
        .run = runner(setting->plan),
        .rounds = (operation->rounds ? operation->rounds : 1) * (setting->threads > 1 ? CREW_ROUNDS : 1),
        .legs = strcmp(operation->metric, "latency") == 0 ? 2 : 1,
        .measures = !team->idle && (team->rank == measurer || !operation->rank_0_measures),
        .arrival = chosen(call, &arrival_choice),
        .spread_ns = spread_ns(call),
        .compares = setting->plan->start->scheduled || !(operation->rank_0_measures || operation->measures),
    };
}

static void run_in_team(const struct world *world, const struct team *team, const struct plan *plan, struct result *result,
                        const struct teller *teller) {
    struct outcome outcome = {.rank = team->rank};
    const struct call call = make_call(plan, team);
    const int threads = (int)chosen(&call, &threads_choice);
    struct setting setting = {world, team, plan, calloc((size_t)threads, sizeof(struct worker)), threads, &outcome};
    struct timing timing = make_timing(&setting, &call);
    result->spread_ns = timing.spread_ns;
    result->bound_factor = team->clock->number_of_clocks > 2 ? 2 : 1;
    if ((world->every_rank || plan->operation->measures) && most_tries(timing.stop) > INT32_MAX / (int64_t)sizeof(struct sample) - MOST_STAGE)
        note(&outcome, REFUSED, "too many samples to keep those of every rank");
    else if (!reserve(&result->measurement, timing.stop, team->rank == 0))
        note(&outcome, REFUSED, "the system gave no memory for so many samples");
    take_part(&setting, &timing, result);
    free(setting.workers);
    finish(result, &outcome, &result->measurement);
    if (teller->wanted)
        tell(&timing, teller, result);
}

/* Why there are not the ranks that the operation needs; every rank can tell. */
static bool lacks_ranks(const struct world *world, const struct plan *plan, const struct call *call, char line[LINE_BYTES / 2]) {
    const struct operation *operation = plan->operation;
    const int ranks = world->all.ranks, least = operation->between_two || operation->in_pairs ? 2 : operation->ranks_least;
    const int takes = operation->takes ? operation->takes(call) : 0;
    if (takes > ranks)
        snprintf(line, LINE_BYTES / 2, "the grid takes %d ranks, there %s %d", takes, ranks == 1 ? "is" : "are", ranks);
    else if (ranks < least)
        snprintf(line, LINE_BYTES / 2, "%s needs %d ranks, there %s %d", operation->name, least, ranks == 1 ? "is" : "are", ranks);
    else if (operation->between_two && (call->first >= ranks || call->second >= ranks || call->first == call->second))
        snprintf(line, LINE_BYTES / 2, "%s is between two of the %d ranks, not between %d and %d", operation->name, ranks, call->first,
                 call->second);
    else
        return false;
    return true;
}

/* Where the ranks are not there that it needs, rank 0 says so. */
static void refuse(const struct world *world, const struct plan *plan, struct result *result, const struct teller *teller,
                   const char *line) {
    result->status = statuses[REFUSED];
    snprintf(result->reason, sizeof result->reason, "%s", line);
    if (world->all.rank == 0 && teller->wanted) {
        write_result(teller->stream, teller->index, plan->wanted, result);
        end_result(teller->stream);
    }
}

/* The ranks that work together. Two that are not the first two work within all: the others sleep until they are needed. */
static struct team team_of(const struct world *world, const struct plan *plan, const struct call *call) {
    const bool first_two = call->first < 2 && call->second < 2;
    struct team team = world->all;
    if (plan->operation->in_pairs)
        team = world->even;
    else if (plan->operation->between_two && first_two)
        team = world->pair;
    else if (plan->operation->between_two)
        team.idle = team.rank != call->first && team.rank != call->second;
    team.takes = plan->operation->takes ? plan->operation->takes(call) : 0;
    return team;
}

/* Of fewer ranks than all: the others sleep, and calls go to a communicator of these. */
static void leave_out(struct team *team) {
    MPI_Comm taken;
    team->idle = team->rank >= team->takes;
    must(MPI_Comm_split(team->members, team->idle ? MPI_UNDEFINED : 0, team->rank, &taken), "MPI_Comm_split");
    team->calls = team->members = taken;
}

static int ranks_of(const struct world *world, const struct plan *plan, const struct team *team) {
    const int all = world->all.ranks;
    if (team->takes > 0)
        return team->takes;
    return plan->operation->between_two ? 2 : plan->operation->in_pairs ? all / 2 * 2 : all;
}

struct result run_case(const struct world *world, const struct wanted *wanted, const struct teller *teller) {
    char line[LINE_BYTES / 2];
    const struct plan plan = make_plan(wanted);
    const struct call call = make_call(&plan, &world->all);
    struct team team = team_of(world, &plan, &call);
    struct result result = {
        .status = statuses[GOOD],
        .ranks = ranks_of(world, &plan, &team),
        .measurer = !plan.operation->rank_0_measures ? SERIES_ALL : plan.operation->between_two ? call.first : 0,
    };
    if (lacks_ranks(world, &plan, &call, line))
        refuse(world, &plan, &result, teller, line);
    else if (team.ranks > 0) {
        const bool some = team.takes > 0 && team.takes < team.ranks;
        if (some)
            leave_out(&team);
        run_in_team(world, &team, &plan, &result, teller);
        if (some && !team.idle)
            must(MPI_Comm_free(&team.members), "MPI_Comm_free");
    }
    return result;
}
