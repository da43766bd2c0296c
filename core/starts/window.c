/* Rounds start at agreed times of the synchronised clock, one window apart.
 *
 * A rank that misses its window, because the call before took longer, takes the next one that it can meet. The other
 * ranks, delayed by the same call, take the same window: a slow round does not spoil the next one, and no rounds are
 * discarded after slow rounds, which would bias the samples. A rank that was interrupted alone takes a later window
 * than the others, and its rounds are late; after each group of rounds all rest for some windows, in which it catches
 * up. A rank that came in time and lost its CPU while it waited is late. */
#include "base/op.h"
#include "base/wait.h"
#include "sync/clock.h"

static int64_t find_planned_ns(const struct stage *stage, int round) {
    const int rests = round > 0 ? round / stage->group * stage->rest : 0;
    return stage->first_ns + (round + rests) * stage->window_ns;
}

static bool begin(struct stage *stage, int round) {
    const int64_t planned_ns = find_planned_ns(stage, round);
    int64_t common_ns = stage->next_ns > planned_ns ? stage->next_ns : planned_ns;
    int64_t target_ns = find_local_ns(stage->team->clock, common_ns + stage->delay_ns);
    const int64_t behind_ns = stage->read_ns() - target_ns;
    stage->skipped = behind_ns > 0;
    if (stage->skipped) {
        common_ns += (behind_ns / stage->window_ns + 1) * stage->window_ns;
        target_ns = find_local_ns(stage->team->clock, common_ns + stage->delay_ns);
    }
    stage->common_ns = common_ns;
    stage->next_ns = common_ns + stage->window_ns;
    stage->begin_ns = wait_until(stage, target_ns);
    return stage->begin_ns - target_ns <= stage->tolerance_ns;
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
