/* Windows by the rules of MPIPerf: stages of eight rounds after four that are not recorded; a rank is late if it
 * arrives after the start of the window; rounds longer than their window are discarded; windows grow by a tenth if more
 * than a quarter of the rounds is bad. */
#include "base/op.h"
#include "base/wait.h"
#include "sync/clock.h"

static bool begin(struct stage *stage, int round) {
    stage->common_ns = stage->first_ns + round * stage->window_ns;
    const int64_t target_ns = find_local_ns(stage->team->clock, stage->common_ns + stage->delay_ns);
    const bool in_time = stage->read_ns() <= target_ns;
    stage->begin_ns = wait_until(stage, target_ns);
    return in_time;
}

static const struct start window_mpiperf = {
    .name = "window-mpiperf",
    .help = "windows by the rules of MPIPerf: late starts and rounds longer than their window are discarded",
    .scheduled = true,
    .discards_overruns = true,
    .lead = 4,
    .rounds = 8,
    .growth = 1.1,
    .bad_share = 0.25,
    .begin = begin,
};
REGISTER(start, window_mpiperf);
