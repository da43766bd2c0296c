/* How two ranks compare their clocks: one asks, the other answers with readings of its clock. */
#ifndef RANKBENCH_EXCHANGE_H
#define RANKBENCH_EXCHANGE_H

#include "base/op.h"

/* How far the other clock is ahead of the own one, at least and at most, at a time of the own clock; and the estimated
 * error of the middle. */
struct lead {
    int64_t at_ns;
    int64_t least_ns;
    int64_t most_ns;
    double likely_ns;
};

enum use { SMALLEST_ROUND_TRIP, ALL_EXCHANGES };

/* Ends after 100 exchanges without a faster round trip, as in MPIPerf. */
struct lead compare_with(const struct team *clocks, const struct source *source, int rank, enum use use);
void answer_comparisons(const struct team *clocks, const struct source *source, int rank);

/* The own offset, from that of a rank whose clock leads the own one by `lead`. */
struct point find_own_point(struct point other, struct lead lead);
/* The offset of a rank whose clock leads the own one by `lead`. */
struct point find_other_point(struct point local, struct lead lead);

void send_point(const struct team *clocks, struct point point, int rank);
struct point receive_point(const struct team *clocks, int rank);

#endif
