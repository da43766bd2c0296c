/* The table that a person reads when the core runs alone. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

void print_head(FILE *out, const struct launch_fact *launch, const struct world *world) {
    const struct source_fact *source = fact_of(world->sources, world->source->name);
    char library[80];
    snprintf(library, sizeof library, "%.79s", launch->library);
    library[strcspn(library, "\n,")] = '\0';
    for (char *tab = library; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    fprintf(out, "# rankbench-core %s   %s   %d ranks\n", CORE_VERSION, library, world->all.ranks);
    fprintf(out, "# clock %s: %s; synchronisation %s\n", source->name, world->why, world->synchronisation->name);
    fprintf(out, "# times in microseconds over all valid samples; latency is half of a round trip; MB/s counts 10^6 bytes\n");
    fprintf(out, "%-11s %-11s %-15s %9s %10s %10s %10s %10s %8s %6s %8s\n", "operation", "form", "start", "bytes", "median", "min",
            "p90", "p99", "samples", "bad", "MB/s");
}

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int64_t sort_valid(const struct start *start, const struct measurement *measurement, double *times) {
    int64_t valid = 0;
    for (int64_t i = 0; i < measurement->taken; i++)
        if (!is_discarded(start, &measurement->samples[i]))
            times[valid++] = measurement->samples[i].time_ns;
    qsort(times, (size_t)valid, sizeof *times, ascending);
    return valid;
}

static double at(const double *sorted, int64_t count, double share) {
    return sorted[(int64_t)(share * (double)(count - 1) + 0.5)] / 1000;
}

void print_row(FILE *out, const struct wanted *wanted, const struct result *result) {
    const struct measurement *measurement = &result->measurement;
    const struct operation *operation = find_operation(wanted->operation);
    fprintf(out, "%-11s %-11s %-15s %9lld ", wanted->operation, wanted->form, wanted->start, (long long)wanted->bytes);
    double *times = malloc(sizeof *times * (size_t)(measurement->taken + 1));
    const int64_t valid = strcmp(result->status, "ok") == 0 ? sort_valid(find_start(wanted->start), measurement, times) : 0;
    if (valid > 0) {
        const double median = at(times, valid, 0.5);
        fprintf(out, "%10.3f %10.3f %10.3f %10.3f %8lld %6lld", median, at(times, valid, 0), at(times, valid, 0.9),
                at(times, valid, 0.99), (long long)valid, (long long)(measurement->taken - valid));
        if (strcmp(operation->metric, "bandwidth") == 0)
            fprintf(out, " %8.0f", (double)(wanted->bytes * operation->messages) / median);
    } else {
        fprintf(out, "%s%s%s", result->status, *result->reason ? ": " : ", no valid sample", result->reason);
    }
    fputc('\n', out);
    fflush(out);
    free(times);
}
