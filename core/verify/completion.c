#define _GNU_SOURCE
#include "verify/completion.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/steady.h"
#include "base/tree.h"
#include "base/wait.h"
#include "kit/target.h"
#include "sync/clock.h"
#include "sync/page.h"
#include "verify/order.h"

/* No rank avoids MPI for ever, since a library may need the calls of every rank to complete those of others. A pure
 * target calls soon, since that is usual; a pure origin only if nothing else can be the reason; a rank that is both
 * after a while. */
enum { TARGET_NS = 200000, BOTH_NS = 5000000, ORIGIN_NS = 1000000000, SPINS_A_LOOK = 64 };
/* In a window with one copy, data become visible "eventually" (MPI-4.1 12.7). */
enum { EVENTUALLY_NS = 100000 };
/* Limits are doubled after an inconclusive check, so many times. */
enum { MOST_DOUBLINGS = 6, MOST_BOTH_NS = 40000000 };
/* Between hosts the target checks when this multiple of the call's time has passed since its return. */
enum { TIMES_CALL = 10, LEAST_AFTER_NS = 20000, MOST_AFTER_NS = 50000000, UNKNOWN_CALL_NS = 100000, NEWS_NS = 200000 };

struct page {
    _Atomic uint64_t arrivals;
};

struct completion_check {
    struct page *page;
    /* Ranks that call, and how often they have waited for each other since `begin_completion_check`. */
    int ranks;
    uint64_t meetings;
    /* Between hosts: when targets check, on rank 0's clock, and what they saw. */
    int64_t look_ns, pause_ns, seen_ns, ended_ns;
    struct twin_reading before;
    bool missing;
    /* Number of doublings of all times. */
    int doublings;
    /* Over all ranks: when the last call returned, and when the first origin called MPI again; whether an origin on
     * this host did so before the targets had checked. */
    struct closing {
        int64_t returned_ns, took_ns, resumed_ns;
        bool jumped, disturbed;
    } closing;
};

static bool is_needed(const struct setting *setting) {
    return setting->plan->operation->hooks.is_passive_target && setting->world->completion_check;
}

struct completion_check *open_completion_check(const struct world *world, bool separate_clocks) {
    struct completion_check *completion_check = try_memory(sizeof *completion_check);
    if (!tree_agree(&world->all, completion_check != NULL)) {
        free(completion_check);
        return NULL;
    }
    const struct team *host = &world->hosts->readers;
    if (world->all.ranks > 1 && !separate_clocks && tree_agree(&world->all, host->ranks == world->all.ranks))
        completion_check->page = map_page(host, sizeof(struct page));
    return completion_check;
}

void close_completion_check(struct completion_check *completion_check) {
    if (completion_check)
        unmap_page(completion_check->page, sizeof(struct page));
    free(completion_check);
}

/* --- before the call --- */

struct opening {
    int32_t ranks;
    int64_t call_ns, look_ns;
};

static void merge_openings(void *into, const void *from, int bytes) {
    (void)bytes;
    struct opening *local = into;
    const struct opening *theirs = from;
    local->ranks += theirs->ranks;
    local->call_ns = max(local->call_ns, theirs->call_ns);
}

/* The second call needs no setup. */
static int64_t find_call_ns(const struct outcome *outcome) {
    return outcome->call_ns[1] > 0 ? outcome->call_ns[1] : outcome->call_ns[0];
}

static int64_t find_pause_ns(int64_t call_ns) {
    return clamp((double)(TIMES_CALL * call_ns), LEAST_AFTER_NS, MOST_AFTER_NS);
}

static int64_t find_notice_ns(const struct completion_check *completion_check) {
    return (int64_t)NEWS_NS << completion_check->doublings;
}

static int64_t plan_look_ns(const struct setting *setting, int64_t call_ns) {
    call_ns = call_ns > 0 ? call_ns : UNKNOWN_CALL_NS;
    return setting->world->source->read_ns() + find_notice_ns(setting->world->completion_check) + call_ns +
           find_pause_ns(call_ns) + 4 * setting->team->clock->worst_bound_ns;
}

void begin_completion_check(const struct setting *setting) {
    struct completion_check *completion_check = setting->world->completion_check;
    const struct team *team = setting->team;
    struct opening opening = {!team->idle, find_call_ns(setting->outcome), 0};
    if (!is_needed(setting))
        return;
    if (!completion_check->page)
        synchronise_for_order(setting);
    tree_combine(team, &opening, sizeof opening, merge_openings);
    if (team->rank == 0 && completion_check->page)
        atomic_store(&completion_check->page->arrivals, 0);
    if (team->rank == 0)
        opening.look_ns = plan_look_ns(setting, opening.call_ns);
    tree_broadcast(team, &opening, sizeof opening);
    completion_check->ranks = opening.ranks;
    completion_check->look_ns = opening.look_ns;
    completion_check->pause_ns = find_pause_ns(opening.call_ns > 0 ? opening.call_ns : UNKNOWN_CALL_NS);
    completion_check->meetings = 0;
    completion_check->missing = false;
    completion_check->closing = (struct closing){.resumed_ns = INT64_MAX};
    completion_check->before = read_both(setting->world->source);
}

/* --- after the call --- */

static bool is_missing(const struct worker *worker) {
    struct mismatch mismatch = {0};
    check_buffers(&worker->buffers, &worker->call, &mismatch);
    return was_called(&worker->call) && mismatch.wrong_bytes > 0;
}

static bool is_origin(const struct setting *setting) {
    return get_target(first_call(setting))->peer_count > 0;
}

/* Waits for all ranks. */
static void wait_for_ranks(const struct setting *setting, int64_t silent_ns) {
    struct completion_check *completion_check = setting->world->completion_check;
    _Atomic uint64_t *const arrivals = &completion_check->page->arrivals;
    const uint64_t all = ++completion_check->meetings * (uint64_t)completion_check->ranks;
    const int64_t until_ns = read_steady_ns() + silent_ns;
    atomic_fetch_add(arrivals, 1);
    for (unsigned spins = 1; atomic_load(arrivals) < all; spins++) {
        if (setting->world->yields)
            sched_yield();
        if (spins % SPINS_A_LOOK == 0 && read_steady_ns() > until_ns) {
            completion_check->closing.disturbed |= is_origin(setting);
            give_progress(setting->team);
        }
    }
}

static int64_t find_both_ns(const struct completion_check *completion_check) {
    return min((int64_t)BOTH_NS << completion_check->doublings, MOST_BOTH_NS);
}

/* The call of a target that takes part in the epoch may need calls of the origin, and its data are judged at its return. */
static int64_t find_limit_ns(const struct completion_check *completion_check, const struct call *call) {
    const bool reached = is_target(call), reaches = get_target(call)->peer_count > 0;
    const bool silent = reaches && !is_active(call);
    return !silent ? TARGET_NS : reached ? find_both_ns(completion_check) : ORIGIN_NS;
}

static bool is_missing_for_long(const struct worker *worker) {
    const int64_t until_ns = read_steady_ns() + EVENTUALLY_NS;
    bool missing = true;
    for (bool last = false; missing && !last;) {
        last = read_steady_ns() > until_ns;
        missing = is_missing(worker);
    }
    return missing;
}

static void look_on_host(const struct setting *setting, struct worker *worker) {
    const struct completion_check *completion_check = setting->world->completion_check;
    wait_for_ranks(setting, find_limit_ns(completion_check, &worker->call));
    if (is_target(&worker->call))
        worker->late |= is_missing_for_long(worker);
    wait_for_ranks(setting, is_visible_without_mpi(&worker->call) ? ORIGIN_NS : find_both_ns(completion_check));
}

/* An origin waits until the others have checked, which takes at most a nanosecond per byte. */
static void look_by_clock(const struct setting *setting, struct worker *worker, int64_t began_ns) {
    struct completion_check *completion_check = setting->world->completion_check;
    const struct source *source = setting->world->source;
    const struct stage waiting = {.read_ns = source->read_ns, .yields = setting->world->yields};
    const int64_t returned_ns = source->read_ns(), look_ns = find_local_ns(setting->team->clock, completion_check->look_ns);
    completion_check->closing.returned_ns = find_latest_ns(setting, returned_ns);
    completion_check->closing.took_ns = returned_ns - began_ns;
    while (get_target(&worker->call)->peer_count == 0 && source->read_ns() < look_ns - completion_check->pause_ns)
        give_progress(setting->team);
    wait_until(&waiting, look_ns);
    completion_check->seen_ns = find_earliest_ns(setting, source->read_ns());
    if (is_target(&worker->call))
        completion_check->missing |= is_missing(worker);
    completion_check->ended_ns = find_latest_ns(setting, source->read_ns());
    wait_until(&waiting, look_ns + find_notice_ns(completion_check) +
                             worker->call.message.bytes * worker->call.peers.ranks * worker->call.window.messages);
    if (get_target(&worker->call)->peer_count > 0)
        completion_check->closing.resumed_ns = find_earliest_ns(setting, source->read_ns());
}

void check_completion(const struct setting *setting, struct worker *worker, int64_t began_ns) {
    const struct call *call = &worker->call;
    if (!is_needed(setting))
        return;
    avoid_mpi(call, true);
    if (!is_passive_target(call) && is_visible_without_mpi(call))
        worker->late |= is_missing(worker);
    if (setting->world->completion_check->page)
        look_on_host(setting, worker);
    else
        look_by_clock(setting, worker, began_ns);
    avoid_mpi(call, false);
}

/* --- what came of it --- */

static void merge_closings(void *into, const void *from, int bytes) {
    (void)bytes;
    struct closing *local = into;
    const struct closing *theirs = from;
    local->returned_ns = max(local->returned_ns, theirs->returned_ns);
    local->took_ns = max(local->took_ns, theirs->took_ns);
    local->resumed_ns = min(local->resumed_ns, theirs->resumed_ns);
    local->jumped |= theirs->jumped;
    local->disturbed |= theirs->disturbed;
}

/* A check before the return of the call does not show that data are missing; one after a call of the origin does not
 * show that they arrived by themselves. */
static bool looked_late_enough(const struct completion_check *completion_check, const struct closing *all) {
    return !all->jumped && completion_check->seen_ns >= all->returned_ns + find_pause_ns(all->took_ns);
}

static bool looked_early_enough(const struct completion_check *completion_check, const struct closing *all) {
    return completion_check->page ? !all->disturbed : completion_check->ended_ns <= all->resumed_ns;
}

bool end_completion_check(const struct setting *setting) {
    struct completion_check *completion_check = setting->world->completion_check;
    if (!is_needed(setting))
        return true;
    struct closing all = completion_check->closing;
    all.jumped = !completion_check->page && measure_jump_ns(&completion_check->before, setting->world->source) != 0;
    tree_combine(setting->team, &all, sizeof all, merge_closings);
    tree_broadcast(setting->team, &all, sizeof all);
    const bool late_enough = completion_check->page || looked_late_enough(completion_check, &all);
    if (!completion_check->page && completion_check->missing && late_enough)
        setting->workers->late = true;
    const bool looks =
        !setting->team->idle && is_passive_target(first_call(setting)) && is_visible_without_mpi(first_call(setting));
    return tree_agree(setting->team,
                      !looks || (late_enough && (setting->workers->late || looked_early_enough(completion_check, &all))));
}

bool lengthen_completion_check(const struct setting *setting) {
    struct completion_check *completion_check = setting->world->completion_check;
    return completion_check->doublings < MOST_DOUBLINGS && ++completion_check->doublings;
}

void shorten_completion_check(const struct setting *setting) {
    if (setting->world->completion_check)
        setting->world->completion_check->doublings = 0;
}
