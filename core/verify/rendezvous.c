#include "verify/rendezvous.h"

#include <stdio.h>

#include "base/steady.h"
#include "base/tree.h"
#include "verify/order.h"

/* So many ranks are late, one in each turn; of more, others the next time. */
enum { MOST_TURNS = 16 };

/* Over all ranks: who came last and who returned first. */
struct meeting {
    int64_t came_ns, returned_ns;
    int32_t last, first;
    bool jumped;
};

static void merge_meetings(void *into, const void *from, int bytes) {
    (void)bytes;
    struct meeting *local = into;
    const struct meeting *theirs = from;
    if (theirs->came_ns > local->came_ns) {
        local->came_ns = theirs->came_ns;
        local->last = theirs->last;
    }
    if (theirs->returned_ns < local->returned_ns) {
        local->returned_ns = theirs->returned_ns;
        local->first = theirs->first;
    }
    local->jumped |= theirs->jumped;
}

/* The late one knows that the others are on their way. */
static int64_t come(const struct setting *setting, int late) {
    const struct team *team = setting->team;
    if (team->rank != late) {
        announce(setting, late);
        return setting->world->source->read_ns();
    }
    for (int rank = 0; rank < team->ranks; rank++)
        if (rank != late)
            await_announcement(setting, rank);
    return come_late(setting);
}

static struct meeting meet(const struct setting *setting, int (*run)(struct call *), int late) {
    const int rank = setting->team->rank;
    const struct source *source = setting->world->source;
    const struct twin_reading before = read_both(source);
    const int64_t came_ns = come(setting, late);
    note_code(setting->outcome, run(first_call(setting)), setting->plan->operation->name);
    const int64_t returned_ns = source->read_ns();
    return (struct meeting){earliest(setting, came_ns), latest(setting, returned_ns), rank, rank, jump_ns(&before, source) != 0};
}

/* On rank 0. A clock that was set meanwhile shows no order. */
static void judge(const struct setting *setting, const struct meeting *meeting) {
    char line[LINE_BYTES / 2];
    if (meeting->jumped || meeting->returned_ns >= meeting->came_ns)
        return;
    snprintf(line, sizeof line, "rank %d: the call returned before rank %d came to it", meeting->first, meeting->last);
    note(setting->outcome, WRONG_DATA, line);
}

void check_rendezvous(const struct setting *setting, int (*run)(struct call *)) {
    static int checks;
    const struct team *team = setting->team;
    const int turns = team->ranks < MOST_TURNS ? team->ranks : MOST_TURNS;
    const int shift = checks++ % team->ranks;
    compare_order_clocks(setting);
    for (int turn = 0; turn < turns; turn++) {
        struct meeting meeting = meet(setting, run, (turn * team->ranks / turns + shift) % team->ranks);
        tree_combine(team, &meeting, sizeof meeting, merge_meetings);
        if (team->rank == 0)
            judge(setting, &meeting);
    }
}
