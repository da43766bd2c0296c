/* One case from its buffers to its samples: prepare, check the data, time, check again, put away. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"

enum { PAGE_BYTES = 4096, GUARD = 0xA5, SEED_STEP = 1000003 };

/* How one rank fared; the worst of all ranks decides. */
struct outcome {
    int32_t severity;
    int32_t rank;
    int32_t migrated;
    int64_t bound_ns;
    int64_t drift_ns;
    char reason[LINE_BYTES / 2];
};

enum { GOOD, LACKING, REFUSED, FAILED, WRONG_DATA };
static const char *const statuses[] = {"ok", "lacking", "refused", "failed", "wrong-data"};

struct buffer {
    unsigned char *memory;
    unsigned char *data;
    long bytes;
};

static void merge_outcomes(void *into, const void *from, int bytes) {
    (void)bytes;
    struct outcome *mine = into;
    const struct outcome *theirs = from;
    struct outcome merged = theirs->severity > mine->severity ? *theirs : *mine;
    merged.migrated = mine->migrated | theirs->migrated;
    merged.bound_ns = mine->bound_ns > theirs->bound_ns ? mine->bound_ns : theirs->bound_ns;
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

/* --- buffers --- */

static bool allocate(struct buffer *buffer, long bytes) {
    void *memory = NULL;
    const size_t all = (size_t)bytes + 2 * PAGE_BYTES;
    if (posix_memalign(&memory, PAGE_BYTES, all) != 0)
        return false;
    memset(memory, GUARD, all);
    *buffer = (struct buffer){memory, (unsigned char *)memory + PAGE_BYTES, bytes};
    return true;
}

static bool guards_stand(const struct buffer *buffer) {
    for (int i = 1; i <= GUARD_BYTES; i++)
        if (buffer->data[-i] != GUARD || buffer->data[buffer->bytes + i - 1] != GUARD)
            return false;
    return true;
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

static void check_room(const struct world *world, const struct call *call, struct outcome *outcome) {
    char line[LINE_BYTES / 2];
    const double needed = ((double)call->send_bytes + (double)call->receive_bytes) * world->ranks_on_host;
    if (call->bytes / call->datatype->bytes > INT32_MAX) {
        snprintf(line, sizeof line, "%ld bytes are more than 2^31-1 elements of %s", call->bytes, call->datatype->name);
        note(outcome, REFUSED, line);
    } else if (needed > 0.8 * free_memory()) {
        snprintf(line, sizeof line, "buffers of %.1f GiB on this host do not fit in the %.1f GiB of memory that are free",
                 needed / (1 << 30), free_memory() / (1 << 30));
        note(outcome, REFUSED, line);
    }
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

static void clear(const struct call *call) {
    if (call->receive_bytes > 0)
        memset(call->receive, GUARD, (size_t)call->receive_bytes);
}

static void inspect(const struct plan *plan, const struct call *call, const struct buffer *receive, struct outcome *outcome) {
    struct mismatch mismatch = {0};
    char line[LINE_BYTES / 2];
    if (plan->operation->check)
        plan->operation->check(call, &mismatch);
    if (mismatch.wrong_bytes > 0) {
        snprintf(line, sizeof line, "rank %d: %ld of %ld received bytes are wrong, the first at offset %ld: 0x%02x, not 0x%02x",
                 call->rank, mismatch.wrong_bytes, call->receive_bytes, mismatch.offset, mismatch.found, mismatch.expected);
        note(outcome, WRONG_DATA, line);
    } else if (!guards_stand(receive)) {
        snprintf(line, sizeof line, "rank %d: bytes outside the receive buffer were overwritten", call->rank);
        note(outcome, WRONG_DATA, line);
    }
}

/* Twice with different data, so that what was left from the first call cannot pass for the second one's result. */
static void rehearse(const struct team *team, const struct plan *plan, struct call *call, int (*run)(struct call *), const struct buffer *receive,
                     struct outcome *outcome) {
    for (int turn = 0; turn < 2 && all_well(team, outcome); turn++) {
        call->seed += SEED_STEP;
        clear(call);
        if (plan->operation->fill)
            plan->operation->fill(call);
        const int code = run(call);
        note_code(outcome, code, plan->operation->name);
        if (code == MPI_SUCCESS)
            inspect(plan, call, receive, outcome);
    }
}

/* --- the case --- */

static void time_case(const struct world *world, const struct team *team, const struct plan *plan, struct call *call,
                      const struct buffer *receive, struct measurement *measurement, struct outcome *outcome) {
    const int cpu = sched_getcpu();
    const struct offset before = world->synchronisation->run(team, world->source, world->shares_clock);
    const struct timing timing = {
        .team = team,
        .world = world,
        .operation = plan->operation,
        .start = plan->start,
        .call = call,
        .run = runner(plan),
        .offset_ns = before.offset_ns,
        .wanted_samples = plan->wanted->samples,
        .limit_s = plan->wanted->limit_s,
    };
    clear(call);
    note_code(outcome, measure(&timing, measurement), plan->operation->name);
    const struct offset after = world->synchronisation->run(team, world->source, world->shares_clock);
    outcome->bound_ns = before.bound_ns > after.bound_ns ? before.bound_ns : after.bound_ns;
    outcome->drift_ns = llabs(after.offset_ns - before.offset_ns);
    outcome->migrated = sched_getcpu() != cpu;
    if (!all_well(team, outcome))
        return;
    inspect(plan, call, receive, outcome);
    if (team->rank == 0 && measurement->taken == measurement->late)
        note(outcome, FAILED, "no round began in time on all ranks (more ranks than cores?); start=barrier needs no clock");
}

static void prepare_and_time(const struct world *world, const struct team *team, const struct plan *plan, struct call *call,
                             const struct buffer *receive, struct measurement *measurement, struct outcome *outcome) {
    call->initiate = plan->operation->forms[plan->form];
    if (plan->form == PERSISTENT)
        note_code(outcome, call->initiate(call), "initialisation");
    rehearse(team, plan, call, runner(plan), receive, outcome);
    if (all_well(team, outcome)) {
        time_case(world, team, plan, call, receive, measurement, outcome);
        all_well(team, outcome);
    }
    if (plan->form == PERSISTENT && call->requests[0] != MPI_REQUEST_NULL)
        note_code(outcome, MPI_Request_free(call->requests), "MPI_Request_free");
}

static struct call make_call(const struct plan *plan, const struct team *team, MPI_Comm comm) {
    const struct operation *operation = plan->operation;
    const bool root = team->rank == ROOT;
    const long bytes = (long)plan->wanted->bytes;
    const long sent = amount_bytes(root ? operation->root_send : operation->send, bytes, team->ranks);
    const struct datatype *datatype = find_datatype(plan->wanted->datatype);
    return (struct call){
        .comm = comm,
        .rank = team->rank,
        .ranks = team->ranks,
        .bytes = bytes,
        .count = (int)(bytes / datatype->bytes),
        .datatype = datatype,
        .send_bytes = operation->resends ? sent / operation->messages : sent,
        .receive_bytes = amount_bytes(root ? operation->root_receive : operation->receive, bytes, team->ranks),
        .messages = operation->messages ? operation->messages : 1,
    };
}

static void take_part(const struct world *world, const struct plan *plan, struct measurement *measurement,
                      struct outcome *outcome) {
    const struct team *team = plan->operation->ranks_exactly == 2 ? &world->pair : &world->all;
    struct call call = make_call(plan, team, world->operations);
    struct buffer send = {0}, receive = {0};
    call.requests = calloc((size_t)call.messages, sizeof *call.requests);
    for (int i = 0; i < call.messages; i++)
        call.requests[i] = MPI_REQUEST_NULL;
    check_room(world, &call, outcome);
    if (outcome->severity == GOOD && (!allocate(&send, call.send_bytes) || !allocate(&receive, call.receive_bytes)))
        note(outcome, REFUSED, "the system gave no memory for the buffers");
    if (all_well(team, outcome)) {
        call.send = send.data;
        call.receive = receive.data;
        prepare_and_time(world, team, plan, &call, &receive, measurement, outcome);
    }
    free(call.requests);
    free(send.memory);
    free(receive.memory);
}

static struct plan make_plan(const struct wanted *wanted) {
    struct plan plan = {.operation = find_operation(wanted->operation), .start = find_start(wanted->start), .wanted = wanted};
    for (int form = 0; form < FORMS; form++)
        if (strcmp(form_names[form], wanted->form) == 0)
            plan.form = (enum form)form;
    return plan;
}

struct result run_case(const struct world *world, const struct wanted *wanted) {
    const struct plan plan = make_plan(wanted);
    const int exactly = plan.operation->ranks_exactly;
    struct result result = {
        .ranks = exactly ? exactly : world->all.ranks,
        .single = plan.operation->rank_0_measures,
        .measurement.capacity = world->all.rank == 0 ? wanted->samples * 4 + 256 : 0,
    };
    struct outcome outcome = {.rank = world->all.rank};
    if (world->all.ranks < exactly) {
        snprintf(outcome.reason, sizeof outcome.reason, "%s needs %d ranks, there is %d", wanted->operation, exactly,
                 world->all.ranks);
        outcome.severity = REFUSED;
    } else if (world->all.rank < result.ranks) {
        if (world->all.rank == 0)
            result.measurement.samples = malloc(sizeof *result.measurement.samples * (size_t)result.measurement.capacity);
        if (world->all.rank == 0 && !result.measurement.samples)
            note(&outcome, REFUSED, "the system gave no memory for so many samples");
        take_part(world, &plan, &result.measurement, &outcome);
    }
    result.status = statuses[outcome.severity];
    snprintf(result.reason, sizeof result.reason, "%s", outcome.reason);
    /* Bounds are against rank 0; two other ranks may differ by two of them. */
    result.sync_bound_ns = result.ranks > 2 ? 2 * outcome.bound_ns : outcome.bound_ns;
    result.drift_ns = outcome.drift_ns;
    result.migrated = outcome.migrated;
    return result;
}
