/* How fast a case runs, and what follows for its stages: windows, tolerance, lead, number of rounds. Knows no MPI. */
#ifndef RANKBENCH_PACE_H
#define RANKBENCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_STAGE = 128 };

/* What does not change during a case: how its start works, what a reading of the clock costs and by how much it advances, and how
 * far apart ranks arrive on purpose. */
struct pacing {
    bool scheduled, agrees;
    /* Rounds of a stage that are not scored; those that are, 0: as many as go well. */
    int lead, fixed_rounds;
    double growth, bad_share;
    double cost_ns, step_ns;
    int64_t spread_ns;
};

/* Times are of a whole run, in ns. */
struct pace {
    /* The time of a run that nothing delays: the lower quartile, since one interruption must not set it. */
    double estimate_ns;
    double longest_ns;
    /* Runs so far, before the first stage. */
    int64_t warm_ups;
    /* Whether the same was warmed up before in this process: connections are there. */
    bool again;
    int64_t window_ns, slack_ns, tolerance_ns;
    /* How far ahead a stage begins, for the news of it to reach all ranks. */
    int64_t margin_ns;
    int32_t lead, rounds;
    /* After how many rounds ranks rest for how many windows. */
    int32_t group, rest;
    /* Rounds timed so far, and how often ranks drifted into different windows. */
    int64_t timed, partings;
};

/* What a stage showed: times of the rounds that count, how many rounds were late, how many a rank met too late for their
 * window, how often ranks drifted apart, and whether the news of the stage came too late. */
struct course {
    const double *times_ns;
    int valid, rounds, late, skipped, partings;
    bool first_late;
};

/* Takes the times of a stage of the warm-up, and returns how many rounds the next one has; none: calls do not become faster any
 * more, or the warm-up has taken its share of the time limit. */
int warm_pace(struct pace *pace, const double *times_ns, int count, double spent_ns, double limit_ns);
void begin_pace(struct pace *pace, const struct pacing *pacing);
/* Returns whether the tolerance is less than before, so that rounds which counted may not count any more. */
bool update_pace(struct pace *pace, const struct pacing *pacing, const struct course *course);
/* Whether rounds that began within the last tolerance can be used, by the median time of those that count. */
bool is_tolerable(const struct pace *pace, const struct pacing *pacing, double middle_ns);

#endif
