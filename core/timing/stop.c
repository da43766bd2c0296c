/* Stopping rules, with the only statistics of the core. */
#include "timing/stop.h"

#include <math.h>
#include <stdlib.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "request/request.h"

enum { TRIES_PER_SAMPLE = 4, SPARE_TRIES = 128, FIRST_LOOK = 8 };
/* Normal quantile of a 95% interval. */
static const double Z = 1.959963985;

/* Welford (1962): mean and sum of squared deviations in one pass. */
void add_to_stopping(struct stopping *stopping, const struct sample *sample) {
    const double away = sample->time_ns - stopping->mean;
    stopping->count++;
    stopping->mean += away / (double)stopping->count;
    stopping->squares += away * (sample->time_ns - stopping->mean);
}

static double find_standard_error(const struct stopping *stopping) {
    const double count = (double)stopping->count;
    if (stopping->count < 2 || !(stopping->mean > 0))
        return INFINITY;
    return sqrt(stopping->squares / (count - 1) / count) / stopping->mean;
}

double *sort_valid_times(const struct start *start, const struct measurement *measurement, int64_t *count) {
    double *const times = obtain_memory(sizeof *times * (size_t)(measurement->sample_count + 1));
    *count = 0;
    for (int64_t i = 0; i < measurement->sample_count; i++)
        if (!is_discarded(start, &measurement->samples[i]))
            times[(*count)++] = measurement->samples[i].time_ns;
    sort_values(times, *count);
    return times;
}

/* Half the width of the order-statistic interval of the median, relative to the median; at least the resolution of the
 * clock. */
static double find_interval(const struct start *start, const struct measurement *so_far, double step_ns) {
    int64_t count;
    double *const times = sort_valid_times(start, so_far, &count);
    const double half = Z * sqrt((double)count) / 2;
    const int64_t low = (int64_t)floor((double)count / 2 - half), high = (int64_t)ceil((double)count / 2 + half);
    double width = INFINITY;
    if (low >= 1 && high < count && times[count / 2] > 0)
        width = fmax(times[high] - times[low - 1], step_ns) / 2 / times[count / 2];
    free(times);
    return width;
}

/* Sorting takes time: it is repeated when there are a quarter more samples. */
static bool is_narrow(struct stopping *stopping, const struct stop *stop, const struct start *start,
                      const struct measurement *so_far, double step_ns) {
    if (stopping->count < stopping->next_look)
        return false;
    stopping->next_look = stopping->count + stopping->count / 4 + FIRST_LOOK;
    return find_interval(start, so_far, step_ns) <= stop->interval;
}

int64_t count_most_tries(const struct stop *stop) {
    return stop->tries > 0 ? stop->tries : TRIES_PER_SAMPLE * count_needed_samples(stop, 0) + SPARE_TRIES;
}

int64_t count_needed_samples(const struct stop *stop, double timed_ns) {
    return timed_ns < 1e9 * stop->fill_s ? MOST_FILL * stop->samples : stop->samples;
}

enum stopped find_stop(struct stopping *stopping, const struct stop *stop, const struct start *start,
                       const struct measurement *so_far, double timed_ns, double step_ns) {
    if (so_far->valid >= count_needed_samples(stop, timed_ns))
        return STOPPED_SAMPLES;
    if (so_far->sample_count >= count_most_tries(stop))
        return so_far->valid >= stop->samples ? STOPPED_SAMPLES : STOPPED_TRIES;
    if (stop->rse > 0 && so_far->valid >= stop->least && find_standard_error(stopping) <= stop->rse)
        return STOPPED_RSE;
    if (stop->interval > 0 && so_far->valid >= stop->least && is_narrow(stopping, stop, start, so_far, step_ns))
        return STOPPED_INTERVAL;
    return STOPPED_NOT;
}
