#include "verify/rehearsal.h"

#include "base/tree.h"
#include "request/request.h"
#include "timing/watchdog.h"
#include "verify/barrier.h"
#include "verify/check.h"
#include "verify/completion.h"
#include "verify/origins.h"
#include "verify/receives.h"
#include "verify/status.h"
#include "verify/synchronous.h"
#include "verify/variants.h"

/* A first call may be slow, since it sets up what later ones use; one that takes longer than this and than its time
 * limit counts as long. */
static const double LONG_CALL_NS = 1e9;

static bool rotates(const struct setting *setting) {
    return setting->workers->buffers.memory.root == ROTATING;
}

/* A persistent request has a fixed root. */
static bool can_change_root(const struct setting *setting) {
    return setting->plan->form != PERSISTENT && setting->threads == 1 && setting->workers->buffers.any_root;
}

static int find_other_root(const struct call *call) {
    return call->peers.root == call->peers.ranks - 1 ? 0 : call->peers.ranks - 1;
}

static bool is_long(const struct setting *setting, double call_ns) {
    return !setting->world->probes && call_ns > LONG_CALL_NS && call_ns > setting->plan->request->stop.limit_s * 1e9;
}

/* Checks the guarantees of calls beside their data. */
static void check_promises(const struct setting *setting) {
    const bool meets = setting->plan->operation->timing.synchronises, synchronous = sends_synchronously(setting);
    const bool statuses = has_statuses(setting);
    if ((!meets && !synchronous && !statuses) || !all_ranks_good(setting->team, setting->outcome))
        return;
    if (meets)
        check_barrier(setting, choose_run(setting->plan));
    if (synchronous)
        check_synchronous(setting);
    if (statuses)
        check_statuses(setting);
}

/* At the first visit of a case calls are rehearsed with two roots, at later ones once: the first call on new buffers.
 * All later checks are made at every visit, including the call with new data after the timed ones. */
static double rehearse_calls(const struct setting *setting) {
    const int turns = setting->plan->last.good ? 1 : 2;
    for (int turn = 0; turn < turns && all_ranks_good(setting->team, setting->outcome); turn++) {
        if (rotates(setting))
            set_root(&setting->workers->buffers, first_call(setting), turn % first_call(setting)->peers.ranks);
        else if (turn > 0 && can_change_root(setting))
            set_root(&setting->workers->buffers, first_call(setting), find_other_root(first_call(setting)));
        watch_phase("is rehearsed");
        double call_ns = check_until_conclusive(setting);
        tree_broadcast(setting->team, &call_ns, sizeof call_ns);
        if (is_long(setting, call_ns))
            return call_ns;
    }
    return 0;
}

double rehearse(const struct setting *setting) {
    const int root = first_call(setting)->peers.root;
    const double long_ns = rehearse_calls(setting);
    shorten_completion_check(setting);
    if (!rotates(setting) && can_change_root(setting))
        set_root(&setting->workers->buffers, first_call(setting), root);
    if (long_ns == 0 && !setting->plan->last.good)
        check_promises(setting);
    return long_ns;
}

void check_after_timing(const struct setting *setting, double long_ns) {
    watch_phase("is checked");
    if (leaves_data(&setting->workers->buffers))
        inspect(setting);
    if (!all_ranks_good(setting->team, setting->outcome) || long_ns > 0)
        return;
    check_call(setting);
    check_promises(setting);
}

/* Settings for the case alone may be wrong for other calls. */
void check_other_calls(const struct setting *setting) {
    const struct plan *plan = setting->plan;
    const bool once = plan->operation->hooks.read_once_ns || read_case_choice(setting, &quantity_choice) == QUANTITY_MEMORY;
    if (plan->last.good || once || *plan->request->settings || !all_ranks_good(setting->team, setting->outcome))
        return;
    watch_phase("is rehearsed");
    check_variants(setting, setting->world->probes);
    if (setting->world->probes && has_statuses(setting) && all_ranks_good(setting->team, setting->outcome))
        check_receives(setting);
    if (plan->operation->kind == KIND_ONE_SIDED && all_ranks_good(setting->team, setting->outcome))
        check_origins(setting);
}
