#define _GNU_SOURCE
#include "verify/silence.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/allocation.h"
#include "base/steady.h"
#include "base/tree.h"
#include "base/wait.h"
#include "kit/target.h"
#include "sync/clock.h"
#include "sync/page.h"
#include "verify/order.h"

/* Nobody is silent for ever: a library may need every rank's calls to bring other ranks' to an end. A target calls soon, since that is
 * usual; an origin only where nothing else can be the reason; who is both after a while. */
enum { TARGET_NS = 200000, BOTH_NS = 5000000, ORIGIN_NS = 1000000000, SPINS_A_LOOK = 64 };
/* What is moved becomes visible "eventually" in a window of one copy (MPI-4.1 12.7). */
enum { EVENTUALLY_NS = 100000 };
/* Between hosts the target looks when so many times what the call takes have passed since it returned. */
/* Where a trial had no power, all of this is doubled for the next one, so many times. */
enum { MOST_DOUBLINGS = 6, MOST_BOTH_NS = 40000000 };
enum { TIMES_CALL = 10, LEAST_AFTER_NS = 20000, MOST_AFTER_NS = 50000000, UNKNOWN_CALL_NS = 100000, NEWS_NS = 200000 };

struct page {
    _Atomic uint64_t arrivals;
};

struct silence {
    struct page *page;
    /* Ranks that call, and how often they have met since `begin_silence`. */
    int ranks;
    uint64_t meetings;
    /* Between hosts: when targets look on rank 0's clock, and what came of it. */
    int64_t look_ns, pause_ns, seen_ns, ended_ns;
    struct twin_reading before;
    bool missing;
    /* How often all times are doubled. */
    int doublings;
    /* Of all ranks: when the last call returned and the first origin called MPI again; whether an origin did so on this host before
     * others had looked. */
    struct closing {
        int64_t returned_ns, took_ns, resumed_ns;
        bool jumped, disturbed;
    } closing;
};

static bool applies(const struct setting *setting) {
    return setting->plan->operation->hooks.awaits_nobody && setting->world->silence;
}

struct silence *open_silence(const struct world *world, bool separate_clocks) {
    struct silence *silence = ask_memory(sizeof *silence);
    if (!tree_agree(&world->all, silence != NULL)) {
        free(silence);
        return NULL;
    }
    const struct team *host = &world->hosts->readers;
    if (world->all.ranks > 1 && !separate_clocks && tree_agree(&world->all, host->ranks == world->all.ranks))
        silence->page = map_page(host, sizeof(struct page));
    return silence;
}

void close_silence(struct silence *silence) {
    if (silence)
        unmap_page(silence->page, sizeof(struct page));
    free(silence);
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
    local->call_ns = theirs->call_ns > local->call_ns ? theirs->call_ns : local->call_ns;
}

/* The second call sets up nothing. */
static int64_t usual_call_ns(const struct outcome *outcome) {
    return outcome->call_ns[1] > 0 ? outcome->call_ns[1] : outcome->call_ns[0];
}

static int64_t pause_after_ns(int64_t call_ns) {
    const int64_t after_ns = TIMES_CALL * call_ns;
    return after_ns < LEAST_AFTER_NS ? LEAST_AFTER_NS : after_ns > MOST_AFTER_NS ? MOST_AFTER_NS : after_ns;
}

static int64_t news_ns(const struct silence *silence) {
    return (int64_t)NEWS_NS << silence->doublings;
}

static int64_t look_ahead_ns(const struct setting *setting, int64_t call_ns) {
    call_ns = call_ns > 0 ? call_ns : UNKNOWN_CALL_NS;
    return setting->world->source->read_ns() + news_ns(setting->world->silence) + call_ns + pause_after_ns(call_ns) +
           4 * setting->team->clock->worst_bound_ns;
}

void begin_silence(const struct setting *setting) {
    struct silence *silence = setting->world->silence;
    const struct team *team = setting->team;
    struct opening opening = {!team->idle, usual_call_ns(setting->outcome), 0};
    if (!applies(setting))
        return;
    if (!silence->page)
        compare_order_clocks(setting);
    tree_combine(team, &opening, sizeof opening, merge_openings);
    if (team->rank == 0 && silence->page)
        atomic_store(&silence->page->arrivals, 0);
    if (team->rank == 0)
        opening.look_ns = look_ahead_ns(setting, opening.call_ns);
    tree_broadcast(team, &opening, sizeof opening);
    silence->ranks = opening.ranks;
    silence->look_ns = opening.look_ns;
    silence->pause_ns = pause_after_ns(opening.call_ns > 0 ? opening.call_ns : UNKNOWN_CALL_NS);
    silence->meetings = 0;
    silence->missing = false;
    silence->closing = (struct closing){.resumed_ns = INT64_MAX};
    silence->before = read_both(setting->world->source);
}

/* --- after the call --- */

static bool misses(const struct worker *worker) {
    struct mismatch mismatch = {0};
    check_buffers(&worker->buffers, &worker->call, &mismatch);
    return mismatch.wrong_bytes > 0;
}

/* Lets the library bring other ranks' calls to an end. */
static void help_others(const struct setting *setting) {
    int arrived;
    must(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, setting->team->comm, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

static bool reaches_others(const struct setting *setting) {
    return target_of(first_call(setting))->peer_count > 0;
}

/* Until all have come here. */
static void meet(const struct setting *setting, int64_t silent_ns) {
    struct silence *silence = setting->world->silence;
    _Atomic uint64_t *const arrivals = &silence->page->arrivals;
    const uint64_t all = ++silence->meetings * (uint64_t)silence->ranks;
    const int64_t until_ns = steady_ns() + silent_ns;
    atomic_fetch_add(arrivals, 1);
    for (unsigned spins = 1; atomic_load(arrivals) < all; spins++) {
        if (setting->world->yields)
            sched_yield();
        if (spins % SPINS_A_LOOK == 0 && steady_ns() > until_ns) {
            silence->closing.disturbed |= reaches_others(setting);
            help_others(setting);
        }
    }
}

static int64_t both_ns(const struct silence *silence) {
    const int64_t both_ns = (int64_t)BOTH_NS << silence->doublings;
    return both_ns < MOST_BOTH_NS ? both_ns : MOST_BOTH_NS;
}

static int64_t patience_ns(const struct silence *silence, const struct call *call) {
    const bool reached = is_reached(call), reaches = target_of(call)->peer_count > 0;
    return !reaches ? TARGET_NS : reached ? both_ns(silence) : ORIGIN_NS;
}

static bool misses_for_long(const struct worker *worker) {
    const int64_t until_ns = steady_ns() + EVENTUALLY_NS;
    bool missing = true;
    for (bool last = false; missing && !last;) {
        last = steady_ns() > until_ns;
        missing = misses(worker);
    }
    return missing;
}

static void look_on_host(const struct setting *setting, struct worker *worker) {
    const struct silence *silence = setting->world->silence;
    meet(setting, patience_ns(silence, &worker->call));
    if (is_reached(&worker->call))
        worker->late |= misses_for_long(worker);
    meet(setting, is_seen_silently(&worker->call) ? ORIGIN_NS : both_ns(silence));
}

/* An origin waits until the others have looked, which takes them a nanosecond a byte at most. */
static void look_by_clock(const struct setting *setting, struct worker *worker, int64_t began_ns) {
    struct silence *silence = setting->world->silence;
    const struct source *source = setting->world->source;
    const struct stage waiting = {.read_ns = source->read_ns, .yields = setting->world->yields};
    const int64_t returned_ns = source->read_ns(), look_ns = local_time(setting->team->clock, silence->look_ns);
    silence->closing.returned_ns = latest(setting, returned_ns);
    silence->closing.took_ns = returned_ns - began_ns;
    while (target_of(&worker->call)->peer_count == 0 && source->read_ns() < look_ns - silence->pause_ns)
        help_others(setting);
    wait_until(&waiting, look_ns);
    silence->seen_ns = earliest(setting, source->read_ns());
    if (is_reached(&worker->call))
        silence->missing |= misses(worker);
    silence->ended_ns = latest(setting, source->read_ns());
    wait_until(&waiting,
               look_ns + news_ns(silence) + worker->call.message.bytes * worker->call.peers.ranks * worker->call.window.messages);
    if (target_of(&worker->call)->peer_count > 0)
        silence->closing.resumed_ns = earliest(setting, source->read_ns());
}

void look_in_silence(const struct setting *setting, struct worker *worker, int64_t began_ns) {
    const struct call *call = &worker->call;
    if (!applies(setting))
        return;
    keep_silent(call, true);
    if (!is_reached_unawares(call) && is_seen_silently(call))
        worker->late |= misses(worker);
    if (setting->world->silence->page)
        look_on_host(setting, worker);
    else
        look_by_clock(setting, worker, began_ns);
    keep_silent(call, false);
}

/* --- what came of it --- */

static void merge_closings(void *into, const void *from, int bytes) {
    (void)bytes;
    struct closing *local = into;
    const struct closing *theirs = from;
    local->returned_ns = theirs->returned_ns > local->returned_ns ? theirs->returned_ns : local->returned_ns;
    local->took_ns = theirs->took_ns > local->took_ns ? theirs->took_ns : local->took_ns;
    local->resumed_ns = theirs->resumed_ns < local->resumed_ns ? theirs->resumed_ns : local->resumed_ns;
    local->jumped |= theirs->jumped;
    local->disturbed |= theirs->disturbed;
}

/* Where a call returned only after this rank had looked, what is missing says nothing; where an origin called before that, what is
 * there does not either. */
static bool looked_late_enough(const struct silence *silence, const struct closing *all) {
    return !all->jumped && silence->seen_ns >= all->returned_ns + pause_after_ns(all->took_ns);
}

static bool looked_early_enough(const struct silence *silence, const struct closing *all) {
    return silence->page ? !all->disturbed : silence->ended_ns <= all->resumed_ns;
}

bool end_silence(const struct setting *setting) {
    struct silence *silence = setting->world->silence;
    if (!applies(setting))
        return true;
    struct closing all = silence->closing;
    all.jumped = !silence->page && jump_ns(&silence->before, setting->world->source) != 0;
    tree_combine(setting->team, &all, sizeof all, merge_closings);
    tree_broadcast(setting->team, &all, sizeof all);
    const bool late_enough = silence->page || looked_late_enough(silence, &all);
    if (!silence->page && silence->missing && late_enough)
        setting->workers->late = true;
    const bool looks = !setting->team->idle && is_reached_unawares(first_call(setting)) && is_seen_silently(first_call(setting));
    return tree_agree(setting->team, !looks || (late_enough && (setting->workers->late || looked_early_enough(silence, &all))));
}

bool lengthen_silence(const struct setting *setting) {
    struct silence *silence = setting->world->silence;
    return silence->doublings < MOST_DOUBLINGS && ++silence->doublings;
}

void shorten_silence(const struct setting *setting) {
    if (setting->world->silence)
        setting->world->silence->doublings = 0;
}
