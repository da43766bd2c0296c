#include "verify/timed.h"

#include <stdio.h>

#include "base/steady.h"
#include "base/tree.h"
#include "request/request.h"
#include "verify/barrier.h"
#include "verify/check.h"
#include "verify/evidence.h"
#include "verify/status.h"
#include "verify/synchronous.h"

/* Share of the time limit for checks after stages, and their assumed cost per byte. */
static const double LOOKING_SHARE = 0.05, LOOKING_NS = 1;
/* Share of the time limit for checks of promises between stages. */
static const double PROMISES_SHARE = 0.05;

/* --- around a round --- */

/* Other ranks may write to window memory at any time. */
static void clear_all_received(const struct setting *setting) {
    if (!setting->plan->operation->data.keeps_buffers)
        EACH_WORKER(worker, setting)
            clear_received(&worker->buffers, &worker->call);
}

static void begin_round(const struct setting *setting, bool clears) {
    struct reference *reference = &setting->workers->reference;
    EACH_WORKER(worker, setting)
        begin_turn(&worker->buffers, &worker->call);
    if (reference->ready)
        follow_turn(reference);
    if (clears)
        clear_all_received(setting);
    else if (reference->ready)
        change_received(reference);
    EACH_WORKER(worker, setting) {
        renew_own_data(&worker->buffers, &worker->call);
        use_data(&worker->buffers, &worker->call);
    }
}

static bool is_affordable(const struct setting *setting, const struct worker *worker) {
    const double bytes = (double)count_receive_bytes(&worker->call) * setting->threads;
    return (double)worker->reference.looked_ns + LOOKING_NS * bytes < LOOKING_SHARE * 1e9 * setting->plan->request->stop.limit_s;
}

bool repeats_data(const struct setting *setting) {
    const struct buffers *buffers = &setting->workers->buffers;
    const struct operation *operation = buffers->operation;
    return operation->hooks.check && leaves_data(buffers) && !buffers_change(buffers) && !operation->data.keeps_buffers &&
           !operation->data.numbers_rounds;
}

static void keep_data(const struct setting *setting) {
    struct worker *worker = setting->workers;
    const long bytes = count_receive_bytes(&worker->call);
    worker->reference.ready = false;
    /* A root that keeps its own data receives nothing. */
    if ((const void *)worker->call.buffers.receive == MPI_IN_PLACE)
        return;
    if (!was_called(&worker->call) || !can_be_kept(bytes) || !is_affordable(setting, worker))
        return;
    inspect_worker(setting, worker);
    if (setting->outcome->severity == GOOD)
        keep_reference(&worker->reference, &worker->buffers, &worker->call, bytes);
}

/* Changed bytes that were not overwritten show a missing delivery, even if the data around them, from earlier calls,
 * are right. */
static void inspect_difference(const struct setting *setting, struct worker *worker) {
    struct mismatch mismatch = {0};
    check_buffers(&worker->buffers, &worker->call, &mismatch);
    if (mismatch.wrong_bytes > 0 && !mismatch.instead && keeps_changes(&worker->reference)) {
        keep_evidence(worker);
        note(setting->outcome, WRONG_DATA, "rank %d: a repeated call did not deliver its data", worker->call.peers.rank);
    }
    inspect_worker(setting, worker);
}

/* If calls deliver right but different data several times, they are not compared any more. */
static void judge_difference(const struct setting *setting) {
    enum { MOST_STRIKES = 3 };
    struct worker *worker = setting->workers;
    struct reference *reference = &worker->reference;
    inspect_difference(setting, worker);
    restore_received(reference);
    if (setting->outcome->severity != GOOD || ++reference->strikes >= MOST_STRIKES)
        reference->ready = false;
    else
        keep_reference(reference, &worker->buffers, &worker->call, reference->bytes);
}

static void judge_receipts(const struct setting *setting) {
    inspect_receipts(setting, setting->workers);
}

static void inspect_at_return(const struct setting *setting) {
    if (can_renew(&setting->workers->buffers))
        EACH_WORKER(worker, setting)
            inspect_worker_at_return(worker);
}

/* --- after a stage --- */

/* Whether this rank's data must be right when its own call returns. */
static bool is_complete_at_return(const struct worker *worker) {
    return worker->buffers.operation->hooks.check && !is_passive(worker);
}

static void inspect_stage(const struct setting *setting) {
    struct worker *first = setting->workers;
    if (!leaves_data(&first->buffers) || first->reference.ready || !is_complete_at_return(first) ||
        !is_affordable(setting, first))
        return;
    const int64_t began_ns = read_steady_ns();
    inspect(setting);
    first->reference.looked_ns += read_steady_ns() - began_ns;
}

static void check_promises(const struct setting *setting) {
    const bool meets = setting->plan->operation->timing.synchronises, synchronous = sends_synchronously(setting);
    int64_t *const spent_ns = &setting->workers->reference.looked_ns;
    const int64_t began_ns = read_steady_ns();
    if (!meets && !synchronous)
        return;
    bool affordable = (double)*spent_ns < PROMISES_SHARE * 1e9 * setting->plan->request->stop.limit_s;
    tree_broadcast(setting->team, &affordable, sizeof affordable);
    if (!affordable)
        return;
    if (meets)
        check_barrier_again(setting, choose_run(setting->plan));
    if (synchronous)
        check_synchronous_again(setting);
    *spent_ns += read_steady_ns() - began_ns;
}

/* Rank 0 decides when data are renewed, and idle ranks follow: they have no buffers that could say whether. */
static bool can_renew_data(const struct setting *setting) {
    const struct buffers *buffers = &setting->workers->buffers;
    return setting->team->idle || can_renew(buffers) || (buffers->operation->hooks.is_passive_target && buffers->slots == 1);
}

static void call_untimed(const struct setting *setting, struct call *call) {
    const struct operation *operation = setting->plan->operation;
    int code = operation->hooks.before ? operation->hooks.before(call) : MPI_SUCCESS;
    if (!code) {
        code = choose_run(setting->plan)(call);
        call->runs++;
    }
    code = code || !operation->hooks.after ? code : operation->hooks.after(call);
    note_code(setting->outcome, code, operation->name);
}

/* If the case ends here, no timed call delivers the renewed data; they are checked all the same. */
static void inspect_renewed(const struct setting *setting) {
    if (can_renew(&setting->workers->buffers))
        inspect(setting);
    if (!setting->plan->operation->hooks.is_passive_target)
        return;
    check_call(setting);
    renew_data(setting);
    dissemination_barrier(setting->team);
    if (!setting->team->idle)
        EACH_WORKER(worker, setting)
            call_untimed(setting, &worker->call);
    dissemination_barrier(setting->team);
}

const struct checks timed_checks = {
    .begin_round = begin_round,
    .keep_reference = keep_data,
    .judge_difference = judge_difference,
    .judge_receipts = judge_receipts,
    .inspect_at_return = inspect_at_return,
    .inspect_stage = inspect_stage,
    .check_promises = check_promises,
    .can_renew = can_renew_data,
    .renew = renew_data,
    .inspect_renewed = inspect_renewed,
};
