/* Ranks agree on the next start in every round: rank 0 chooses a time far enough ahead to inform all (Round-Time of
 * Hunold and Carpen-Amarie, 2018). A slow round delays only itself, while with windows it would spoil later ones. */
#include "base/op.h"
#include "base/tree.h"
#include "base/wait.h"
#include "sync/clock.h"

static bool begin(struct stage *stage, int round) {
    (void)round;
    stage->common_ns = stage->read_ns() + stage->slack_ns;
    tree_broadcast(stage->team, &stage->common_ns, sizeof stage->common_ns);
    if (stage->calls)
        give_progress(stage->team); /* The library may keep the time for others. */
    const int64_t target_ns = find_local_ns(stage->team->clock, stage->common_ns + stage->delay_ns);
    stage->skipped = stage->read_ns() > target_ns;
    stage->begin_ns = wait_until(stage, target_ns);
    return stage->begin_ns - target_ns <= stage->tolerance_ns;
}

static const struct start roundtime = {
    .name = "roundtime",
    .help = "ranks agree on the next start in every round, on the synchronised clock; late starts are discarded",
    .scheduled = true,
    .agrees = true,
    .lead = 2,
    .growth = 1.2,
    .bad_share = 0.05,
    .begin = begin,
};
REGISTER(start, roundtime);
