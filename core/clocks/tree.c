/* Ranks with a known offset help others, so that log2 p rounds are enough (as in HCA3 of Hunold and Carpen-Amarie, 2018):
 *
 *   round 1   0 <- 1
 *   round 2   0 <- 2   1 <- 3
 *   round 3   0 <- 4   1 <- 5   2 <- 6   3 <- 7
 *
 * All exchanges are used, not only the fastest one. */
#include "sync/clock.h"
#include "sync/exchange.h"

/* The answering rank extrapolates its own point to the time of the lead, which it receives in its own time. */
static void answer_rank(const struct team *clocks, const struct source *source, struct point local, int rank) {
    answer_comparisons(clocks, source, rank);
    const int64_t moment_ns = receive_point(clocks, rank).at_ns;
    send_point(clocks, clocks->rank == 0 ? local : extrapolate_point(clocks->clock, local, moment_ns), rank);
}

static struct point run(const struct team *clocks, const struct source *source) {
    struct point local = {0};
    for (int known = 1; known < clocks->ranks; known *= 2) {
        if (clocks->rank < known && clocks->rank + known < clocks->ranks)
            answer_rank(clocks, source, local, clocks->rank + known);
        else if (clocks->rank >= known && clocks->rank < 2 * known) {
            const struct lead lead = compare_with(clocks, source, clocks->rank - known, ALL_EXCHANGES);
            send_point(clocks, find_other_point(local, lead), clocks->rank - known);
            local = find_own_point(receive_point(clocks, clocks->rank - known), lead);
        }
    }
    return clocks->rank == 0 ? (struct point){.at_ns = source->read_ns()} : local;
}

static const struct synchronisation tree = {
    .name = "tree",
    .help = "in log2 p rounds, in which ranks with a known offset help others; all exchanges are used",
    .run = run,
};
REGISTER(synchronisation, tree);
