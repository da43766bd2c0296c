/* Each rank compares its clock with rank 0's, one after the other: p - 1 comparisons, as in MPIPerf (Cristian, 1989). */
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
    .help = "each rank with rank 0, in sequence; the fastest exchange is used",
    .run = run,
};
REGISTER(synchronisation, linear);
