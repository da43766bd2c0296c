/* Rounds begin at agreed times on the synchronised clock, one window apart. A rank that begins later than it should, because it
 * came too late or lost its CPU while it waited, says so, and every reader of the samples knows. */
#include "op.h"

/* A start is late beyond a few readings of the clock and a twentieth of the window that is for the call. */
enum { TOLERANCE_NS = 100, TOLERANCE_SHARE = 20 };

static bool begin(struct stage *stage, int round) {
    stage->common_ns = stage->first_ns + round * stage->window_ns;
    const int64_t target_ns = local_time(stage->team->clock, stage->common_ns + stage->delay_ns);
    stage->begin_ns = wait_until(stage, target_ns);
    return stage->begin_ns - target_ns <= TOLERANCE_NS + (stage->window_ns - stage->room_ns) / TOLERANCE_SHARE;
}

static const struct start window = {
    .name = "window",
    .help = "at agreed times on the synchronised clock, one window apart; late starts are discarded",
    .scheduled = true,
    .lead = 2,
    .growth = 1.2,
    .bad_share = 0.05,
    .begin = begin,
};
REGISTER(start, window);
