#include "verify/barrier.h"

#include <stdio.h>

#include "base/steady.h"
#include "base/tree.h"
#include "verify/order.h"

/* Late ranks per check; of more ranks, others are late at the next check. */
enum { MOST_TURNS = 16, TURNS_BETWEEN_STAGES = 2 };

/* Over all ranks: the last entry and the first return. */
struct barrier_times {
    int64_t entered_ns, returned_ns;
    int32_t last_rank, first_rank;
    bool jumped;
};

static void merge_times(void *into, const void *from, int bytes) {
    (void)bytes;
    struct barrier_times *local = into;
    const struct barrier_times *theirs = from;
    if (theirs->entered_ns > local->entered_ns) {
        local->entered_ns = theirs->entered_ns;
        local->last_rank = theirs->last_rank;
    }
    if (theirs->returned_ns < local->returned_ns) {
        local->returned_ns = theirs->returned_ns;
        local->first_rank = theirs->first_rank;
    }
    local->jumped |= theirs->jumped;
}

/* The late rank enters when the others have announced that they do. */
static int64_t enter_call(const struct setting *setting, int late_rank, int64_t late_ns) {
    const struct team *team = setting->team;
    if (team->rank != late_rank) {
        announce(setting, late_rank);
        return setting->world->source->read_ns();
    }
    for (int rank = 0; rank < team->ranks; rank++)
        if (rank != late_rank)
            wait_for_announcement(setting, rank);
    return wait_late(setting, late_ns);
}

static struct barrier_times run_with_late_rank(const struct setting *setting, int (*run)(struct call *), int late_rank,
                                               int64_t late_ns) {
    const int rank = setting->team->rank;
    const struct source *source = setting->world->source;
    const struct twin_reading before = read_both(source);
    const int64_t entered_ns = enter_call(setting, late_rank, late_ns);
    note_code(setting->outcome, run(first_call(setting)), setting->plan->operation->name);
    const int64_t returned_ns = source->read_ns();
    return (struct barrier_times){find_earliest_ns(setting, entered_ns), find_latest_ns(setting, returned_ns), rank, rank,
                                  measure_jump_ns(&before, source) != 0};
}

/* On rank 0. The result is unknown if a clock was set meanwhile. */
static void judge_times(const struct setting *setting, const struct barrier_times *barrier_times) {
    if (barrier_times->jumped || barrier_times->returned_ns >= barrier_times->entered_ns)
        return;
    note(setting->outcome, WRONG_DATA, "rank %d: the call returned before rank %d entered it", barrier_times->first_rank,
         barrier_times->last_rank);
}

/* The first late rank differs from check to check; the number of checks may differ between ranks. */
static void check_turns(const struct setting *setting, int (*run)(struct call *), int turns, int64_t late_ns) {
    static int32_t checks;
    const struct team *team = setting->team;
    int32_t shift = checks++ % team->ranks;
    tree_broadcast(team, &shift, sizeof shift);
    for (int turn = 0; turn < turns; turn++) {
        const int late_rank = (turn * team->ranks / turns + shift) % team->ranks;
        struct barrier_times barrier_times = run_with_late_rank(setting, run, late_rank, late_ns);
        tree_combine(team, &barrier_times, sizeof barrier_times, merge_times);
        if (team->rank == 0)
            judge_times(setting, &barrier_times);
    }
}

void check_barrier(const struct setting *setting, int (*run)(struct call *)) {
    const int ranks = setting->team->ranks;
    synchronise_for_order(setting);
    check_turns(setting, run, ranks < MOST_TURNS ? ranks : MOST_TURNS, LATE_NS);
}

void check_barrier_again(const struct setting *setting, int (*run)(struct call *)) {
    check_turns(setting, run, TURNS_BETWEEN_STAGES, LATE_BETWEEN_STAGES_NS);
}
