/* The pace of a case: windows, tolerance, lead and number of rounds of its stages. Uses no MPI. */
#ifndef RANKBENCH_PACE_H
#define RANKBENCH_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_STAGE = 128, MOST_LEAD = 64 };

/* Constants of a case: properties of its start, cost and step of the clock, the arrival spread, and the gap
 * between rounds. */
struct pacing {
    bool scheduled, agrees;
    /* Least number of rounds of a stage that are not recorded, and number of those that are; 0: variable. */
    int lead, fixed_rounds;
    double growth, bad_share;
    double cost_ns, step_ns;
    int64_t spread_ns, gap_ns;
};

/* The last visit of the same case in this launch. */
struct last_visit {
    /* Whether there was one, with a good outcome: connections exist. */
    bool good;
    /* Rounds at the beginning of its stages that differed from later ones. */
    int32_t unsettled;
};

/* Rounds since the last judgement; stages, and those in which a rank missed the round after the first. */
struct trial {
    int rounds, valid, stages, parted_at_once;
};

/* Times are of a run, in ns. */
struct pace {
    /* Time of a run without interruption: a lower quartile, so that one interruption does not set it. */
    double estimate_ns;
    double longest_ns;
    /* Runs of the warm-up so far. */
    int64_t warm_ups;
    /* Messages that a run sends one after the other; 0: one. */
    int32_t messages;
    struct last_visit last;
    int64_t window_ns, slack_ns, tolerance_ns;
    /* Time between the instructions for a stage and its start, so that they reach all ranks. */
    int64_t margin_ns;
    int32_t lead, rounds;
    /* Rounds at the beginning of a stage that were seen to differ from later ones. */
    int32_t unsettled;
    /* Ranks rest for `rest` windows after every `group` rounds. */
    int32_t group, rest;
    /* Rounds timed so far, and how often ranks drifted into different windows. */
    int64_t timed, partings;
    struct trial trial;
    /* Windows are longer from now on; ranks also call MPI after each round. */
    bool longer_windows, calls_between;
};

/* Results of a stage: times of valid rounds, in their order; numbers of rounds that were late, that a rank missed, and in which ranks
 * drifted apart; whether the instructions were late, and whether a rank missed the round after the first. */
struct course {
    const double *times_ns;
    int valid, rounds, late, skipped, partings;
    bool first_late, second_late;
};

/* Takes the times of a stage of the warm-up. Returns the rounds of the next one; 0: calls do not become faster any
 * more, or the warm-up has used its share of the time limit. */
int warm_pace(struct pace *pace, const double *times_ns, int count, double spent_ns, double limit_ns);
void begin_pace(struct pace *pace, const struct pacing *pacing);
/* Returns whether the tolerance became smaller, so that valid rounds may become invalid. */
bool update_pace(struct pace *pace, const struct pacing *pacing, const struct course *course);
/* Whether rounds within the final tolerance can be used, given the median of the valid ones. */
bool is_tolerable(const struct pace *pace, const struct pacing *pacing, double middle_ns);

#endif
