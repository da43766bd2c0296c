#include "verify/check.h"

#include <stdio.h>

#include "base/steady.h"
#include "base/tree.h"
#include "kit/calls.h"
#include "kit/receipts.h"
#include "kit/target.h"
#include "verify/completion.h"
#include "verify/evidence.h"
#include "verify/status.h"

enum { SEED_STEP = 1000003 };
static int run_call(struct call *call) {
    const int code = begin_call(call);
    return code ? code : complete_call(call);
}

run_function *choose_run(const struct plan *plan) {
    return plan->form == BLOCKING || plan->operation->timing.completes ? plan->operation->forms[plan->form] : run_call;
}

static int run_and_free(struct call *call) {
    int code = call->form == BLOCKING ? call->initiate(call) : run_call(call);
    if (code)
        return code;
    call->frees = true;
    code = call->release(call);
    call->frees = false;
    return code;
}

run_function *choose_timed_run(const struct setting *setting) {
    if (read_case_choice(setting, &free_choice) != FREE_TIMED)
        return choose_run(setting->plan);
    first_call(setting)->release = setting->plan->operation->hooks.after;
    return run_and_free;
}

static void note_mismatch(struct outcome *outcome, const struct worker *worker, const struct mismatch *mismatch) {
    const struct call *call = &worker->call;
    const int rank = call->peers.rank;
    if (mismatch->instead)
        note(outcome, WRONG_DATA, "rank %d: %s", rank, mismatch->instead);
    else if (call->buffers.receive_bytes > 0 && is_untouched(&worker->buffers, call))
        note(outcome, WRONG_DATA, "rank %d: nothing was delivered: all %ld bytes still hold what they had before the call", rank,
             call->buffers.receive_bytes);
    else if (call->buffers.receive_bytes > 0)
        note(outcome, WRONG_DATA, "rank %d: %ld of %ld received bytes are wrong, the first at offset %ld: 0x%02x, not 0x%02x",
             rank, mismatch->wrong_bytes, call->buffers.receive_bytes, mismatch->offset, mismatch->actual, mismatch->expected);
    else
        note(outcome, WRONG_DATA, "rank %d: the result of the call is wrong: 0x%02x, not 0x%02x", rank, mismatch->actual,
             mismatch->expected);
}

bool is_passive(const struct worker *worker) {
    const struct operation *operation = worker->buffers.operation;
    return operation->hooks.is_passive_target && operation->hooks.is_passive_target(&worker->call);
}

void inspect_worker(const struct setting *setting, struct worker *worker) {
    struct mismatch mismatch = {0};
    struct outcome *outcome = setting->outcome;
    const int rank = worker->call.peers.rank;
    check_buffers(&worker->buffers, &worker->call, &mismatch);
    if (mismatch.wrong_bytes > 0) {
        keep_evidence(worker);
        note_mismatch(outcome, worker, &mismatch);
    } else if (!are_guards_intact(&worker->buffers, &worker->call))
        note(outcome, WRONG_DATA, "rank %d: bytes outside the receive buffer were overwritten", rank);
    else if (!is_send_intact(&worker->buffers, &worker->call))
        note(outcome, WRONG_DATA, "rank %d: the send buffer or the memory after it was overwritten", rank);
    else if (worker->late)
        note(outcome, WRONG_DATA, "rank %d: %s returned before its data had arrived", rank,
             is_passive(worker) ? "another rank's call" : "the call");
}

void inspect(const struct setting *setting) {
    if (!setting->team->idle)
        EACH_WORKER(worker, setting)
            if (was_called(&worker->call)) {
                inspect_worker(setting, worker);
                inspect_receipts(setting, worker);
            }
}

/* The return of a passive target guarantees nothing. */
void inspect_worker_at_return(struct worker *worker) {
    struct mismatch mismatch = {0};
    if (is_passive(worker) || !was_called(&worker->call))
        return;
    check_buffers(&worker->buffers, &worker->call, &mismatch);
    worker->late |= mismatch.wrong_bytes > 0;
    if (worker->late)
        keep_evidence(worker);
}

/* Stores the time of the first two calls on this rank: the first one sets up what later ones use. */
static int run_and_keep_time(const struct setting *setting, struct call *call) {
    int64_t *const call_ns = setting->outcome->call_ns, second = call_ns[0] != 0;
    const int64_t began_ns = setting->world->source->read_ns();
    const int code = choose_run(setting->plan)(call);
    const int64_t took_ns = setting->world->source->read_ns() - began_ns;
    call->runs++;
    if (call == first_call(setting) && call_ns[second] == 0)
        call_ns[second] = took_ns > 0 ? took_ns : 1;
    return code;
}

/* Returns the time of the check. */
static int64_t time_completion_check(const struct setting *setting, struct worker *worker, int64_t began_ns) {
    const int64_t ended_ns = read_steady_ns();
    check_completion(setting, worker, began_ns);
    return read_steady_ns() - ended_ns;
}

/* Which rank makes its next checked calls late, by how much. */
static struct {
    int rank;
    int64_t late_ns;
} delay;

void delay_checked_calls(int rank, int64_t late_ns) {
    delay.rank = rank;
    delay.late_ns = late_ns;
}

static void wait_if_late(const struct call *call) {
    const int64_t until_ns = read_steady_ns() + delay.late_ns;
    while (delay.rank == call->peers.rank && read_steady_ns() < until_ns)
        ;
}

/* Returns the time of the check. */
static int64_t run_checked_call(const struct setting *setting, struct worker *worker) {
    const int64_t began_ns = setting->world->source->read_ns();
    const struct operation *operation = setting->plan->operation;
    struct call *call = &worker->call;
    wait_if_late(call);
    int code = operation->hooks.before ? operation->hooks.before(call) : MPI_SUCCESS;
    code = code ? code : run_and_keep_time(setting, call);
    code = code || !operation->hooks.prove ? code : operation->hooks.prove(call);
    code = code || !operation->hooks.is_passive_target ? code : complete_at_target(call);
    const int64_t looked_ns = time_completion_check(setting, worker, began_ns);
    code = code || !operation->hooks.after ? code : operation->hooks.after(call);
    note_code(setting->outcome, code, operation->name);
    return looked_ns;
}

/* Returns the time of the check. */
static int64_t call_and_inspect(const struct setting *setting, struct worker *worker) {
    const int64_t silent_ns = run_checked_call(setting, worker);
    const int64_t began_ns = read_steady_ns();
    if (setting->outcome->severity == GOOD)
        inspect_worker_at_return(worker);
    return silent_ns + read_steady_ns() - began_ns;
}

/* One call with new data; returns its time. No rank calls before all have filled their buffers. Each rank checks as
 * soon as its own call has returned, before another call lets the library deliver what is missing; and again when all
 * have returned, since a passive target may not notice the end of a call, and since right data may be overwritten
 * later. A call that returned an error on some rank promises no rank its data. */
static double call_and_check(const struct setting *setting, bool *conclusive) {
    if (!setting->team->idle)
        EACH_WORKER(worker, setting) {
            worker->call.seed += SEED_STEP;
            worker->late = false;
            if (worker->call.window.receipts)
                clear_receipts(worker->call.window.receipts);
            fill_buffers(&worker->buffers, &worker->call);
        }
    begin_completion_check(setting);
    dissemination_barrier(setting->team);
    const int64_t began_ns = read_steady_ns();
    int64_t looked_ns = 0;
    if (!setting->team->idle)
        EACH_WORKER(worker, setting)
            looked_ns += call_and_inspect(setting, worker);
    *conclusive = end_completion_check(setting);
    const bool good = all_ranks_good(setting->team, setting->outcome);
    const int64_t ended_ns = read_steady_ns();
    if (good)
        inspect(setting);
    return (double)(ended_ns - began_ns - looked_ns);
}

void check_call(const struct setting *setting) {
    bool conclusive;
    call_and_check(setting, &conclusive);
}

/* An inconclusive check is repeated with longer times, a few times per rehearsal. */
double check_until_conclusive(const struct setting *setting) {
    bool conclusive;
    double call_ns = call_and_check(setting, &conclusive);
    while (!conclusive && all_ranks_good(setting->team, setting->outcome) && lengthen_completion_check(setting))
        call_ns = call_and_check(setting, &conclusive);
    return call_ns;
}

void renew_data(const struct setting *setting) {
    if (!setting->team->idle)
        EACH_WORKER(worker, setting) {
            worker->late = false;
            worker->call.seed += SEED_STEP;
            fill_for_timing(&worker->buffers, &worker->call);
        }
}
