/* Every rank compares its clock with the next one's, two ranks at a time; then offsets are added around the ring in both
 * directions:
 *
 *   0 --> 1 --> 2 --> ... --> p-1 --> 0
 *
 * Two comparisons per rank, for any number of ranks; bounds add up, too, and both directions are combined. */
#include "sync/exchange.h"

#include <math.h>

#include "sync/clock.h"

/* Combines two points of one clock, at the time of the second. Their difference shows the effect of asymmetric links. */
static struct point combine_points(const struct clock *clock, struct point first, struct point second) {
    first = extrapolate_point(clock, first, second.at_ns);
    int64_t least_ns = first.offset_ns - first.bound_ns, most_ns = first.offset_ns + first.bound_ns;
    if (second.offset_ns - second.bound_ns > least_ns)
        least_ns = second.offset_ns - second.bound_ns;
    if (second.offset_ns + second.bound_ns < most_ns)
        most_ns = second.offset_ns + second.bound_ns;
    if (most_ns < least_ns)
        return second;
    const double apart_ns = (double)(first.offset_ns - second.offset_ns);
    const double likely_ns = hypot(fmin(first.likely_ns, second.likely_ns), apart_ns / 2);
    const int64_t bound_ns = (most_ns - least_ns + 1) / 2;
    return (struct point){second.at_ns, least_ns + (most_ns - least_ns) / 2, bound_ns, fmin(likely_ns, (double)bound_ns)};
}

static struct point run(const struct team *clocks, const struct source *source) {
    const int rank = clocks->rank, next = (rank + 1) % clocks->ranks, previous = (rank + clocks->ranks - 1) % clocks->ranks;
    const struct point exact = {0};
    if (rank % 2)
        answer_comparisons(clocks, source, previous);
    const struct lead lead = compare_with(clocks, source, next, SMALLEST_ROUND_TRIP);
    if (rank % 2 == 0)
        answer_comparisons(clocks, source, previous);
    if (rank == 0) {
        send_point(clocks, find_other_point(exact, lead), next);
        return (struct point){.at_ns = source->read_ns()};
    }
    const struct point up = receive_point(clocks, previous);
    if (next != 0)
        send_point(clocks, find_other_point(extrapolate_point(clocks->clock, up, lead.at_ns), lead), next);
    const struct point down = find_own_point(next != 0 ? receive_point(clocks, next) : exact, lead);
    if (rank > 1)
        send_point(clocks, extrapolate_point(clocks->clock, down, up.at_ns), previous);
    return combine_points(clocks->clock, up, down);
}

static const struct synchronisation ring = {
    .name = "ring",
    .help = "every rank with the next one, by the fastest exchange; offsets are added around the ring in both directions",
    .run = run,
};
REGISTER(synchronisation, ring);
