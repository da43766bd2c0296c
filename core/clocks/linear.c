/* Rank 0 is asked by one rank after the other: p - 1 comparisons, as MPIPerf does it (Cristian, 1989). */
#include "sync/exchange.h"

static struct point run(const struct team *clocks, const struct source *source) {
    if (clocks->rank != 0)
        return find_own_point((struct point){0}, compare_with(clocks, source, 0, SMALLEST_ROUND_TRIP));
    for (int rank = 1; rank < clocks->ranks; rank++)
        answer_comparisons(clocks, source, rank);
    return (struct point){.at_ns = source->read_ns()};
}

static const struct synchronisation linear = {
    .name = "linear",
    .help = "one rank after the other with rank 0; the exchange with the smallest round trip decides",
    .run = run,
};
REGISTER(synchronisation, linear);
