/* The speed of some machines changes during a launch: virtual CPUs move nearer or farther. To distinguish this from the
 * behaviour of the library, the ranks of a host pass a token around between cases, in memory shared without MPI, and
 * the time per hop is stored with the case.
 *
 * The token is a number that grows by one per hop, and determines whose turn it is. Several cache lines are used in
 * turn, since the time depends on the home of a line in the processor; the median over lines is reported. Waiting is
 * bounded: if a rank has no CPU the result is unknown, and the next measurement begins with new numbers. On the first
 * line, which is not timed, ranks meet; those that wait give progress to the message that the others need to come. */
#include "sync/hop_latency.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/steady.h"
#include "base/tree.h"
#include "sync/clock.h"
#include "sync/page.h"

enum { APART_BYTES = 128, LINES = 17, UNTIMED = 1, LEAST_HOPS = 24, SPINS_A_LOOK = 256 };
/* A rank that has a CPU arrives within this time. */
enum { PATIENCE_NS = 2000000 };

/* CPUs fetch cache lines in pairs: no other data are in a pair. */
struct page {
    struct {
        _Alignas(APART_BYTES) _Atomic uint64_t token;
    } lines[LINES];
};

struct hop_latency {
    /* The ranks of the host. */
    const struct team *team;
    struct page *page;
    int hops;
    uint64_t visits;
};

struct hop_latency *open_hop_latency(const struct world *world) {
    const struct clock *host = world->hosts;
    const struct team *team = &host->readers;
    struct page *page = NULL;
    if (tree_agree(team, !world->yields) && team->ranks > 1)
        page = map_page(team, sizeof *page);
    if (!page)
        return NULL;
    struct hop_latency *hop_latency = obtain_memory(sizeof *hop_latency);
    const int rounds = (LEAST_HOPS + team->ranks - 1) / team->ranks;
    *hop_latency = (struct hop_latency){.team = team, .page = page, .hops = rounds * team->ranks};
    return hop_latency;
}

void close_hop_latency(struct hop_latency *hop_latency) {
    if (!hop_latency)
        return;
    unmap_page(hop_latency->page, sizeof *hop_latency->page);
    free(hop_latency);
}

/* `absent`: the team of ranks that may be still on their way and need this rank's progress; NULL: all are here. */
static bool wait_for_token(const _Atomic uint64_t *token, uint64_t wanted, int64_t until_ns, const struct team *absent) {
    for (unsigned spins = 1; atomic_load_explicit(token, memory_order_acquire) != wanted; spins++) {
        if (spins % SPINS_A_LOOK != 0)
            continue;
        if (read_steady_ns() > until_ns)
            return false;
        if (absent)
            give_progress(absent);
    }
    return true;
}

/* Passes the token on at each of this rank's turns. The first rank waits for its return, so that a line ends before the
 * next begins. */
static bool pass_token(struct hop_latency *hop_latency, int line, int64_t until_ns) {
    const struct team *team = hop_latency->team;
    _Atomic uint64_t *const token = &hop_latency->page->lines[line].token;
    const uint64_t first = hop_latency->visits * (uint64_t)(hop_latency->hops + 1);
    for (int hop = team->rank; hop <= hop_latency->hops; hop += team->ranks) {
        const uint64_t wanted = first + (uint64_t)hop;
        if (hop > 0 && !wait_for_token(token, wanted, until_ns, line < UNTIMED ? team : NULL))
            return false;
        if (hop < hop_latency->hops)
            atomic_store_explicit(token, wanted + 1, memory_order_release);
    }
    return true;
}

/* Result of this host; 0 if some rank did not answer. */
static double measure_host_ns(struct hop_latency *hop_latency) {
    const int64_t until_ns = read_steady_ns() + PATIENCE_NS;
    double times[LINES];
    hop_latency->visits++;
    for (int line = 0; line < LINES; line++) {
        const int64_t begun_ns = read_steady_ns();
        if (!pass_token(hop_latency, line, until_ns))
            return 0;
        times[line] = (double)(read_steady_ns() - begun_ns) / hop_latency->hops;
    }
    return find_median(times + UNTIMED, LINES - UNTIMED);
}

struct sum {
    double total;
    int hosts, unknown;
};

static void merge_sums(void *into, const void *from, int bytes) {
    (void)bytes;
    struct sum *local = into;
    const struct sum *theirs = from;
    local->total += theirs->total;
    local->hosts += theirs->hosts;
    local->unknown += theirs->unknown;
}

double measure_hop_ns(struct hop_latency *hop_latency, const struct world *world) {
    struct sum sum = {0};
    if (hop_latency) {
        const double own_ns = measure_host_ns(hop_latency);
        if (hop_latency->team->rank == 0)
            sum = (struct sum){own_ns, 1, own_ns <= 0};
    }
    tree_combine(&world->all, &sum, sizeof sum, merge_sums);
    return sum.hosts > 0 && sum.unknown == 0 ? sum.total / sum.hosts : 0;
}
