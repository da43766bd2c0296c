/* The table that is printed when the core runs alone. */
#include "output/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choices.h"
#include "base/numbers.h"
#include "base/registry.h"
#include "kit/memory.h"
#include "missing.h"
#include "output/result.h"
#include "request/request.h"
#include "sync/facts.h"
#include "sync/source.h"
#include "sync/world.h"
#include "timing/measurement.h"
#include "timing/stop.h"

void print_head(FILE *out, const struct launch_fact *launch, const struct world *world) {
    const struct source_fact *source = find_source_fact(world->sources, world->source->name);
    char library[80];
    snprintf(library, sizeof library, "%.79s", launch->library);
    library[strcspn(library, "\n,")] = '\0';
    for (char *tab = library; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    fprintf(out, "# rankbench-core %s   %s   %d ranks\n", CORE_VERSION, library, world->all.ranks);
    fprintf(out, "# clock %s: %s; synchronisation %s\n", source->name, world->why, world->synchronisation->name);
    fprintf(out, "# times in microseconds over all valid samples; latency is half of a round trip; 1 MB/s is 10^6 bytes/s\n");
    fprintf(out, "%-22s %-11s %-9s %9s %10s %10s %10s %10s %8s %6s  %s\n", "operation", "form", "start", "bytes", "median", "min",
            "p90", "p99", "samples", "bad", "beside");
}

/* Prints the reported quantity if it is not the time itself. */
static void print_meaning(FILE *out, const struct operation *operation, const struct result *result, double median_us) {
    if (operation->metric == METRIC_BANDWIDTH)
        fprintf(out, "  %.0f MB/s", (double)result->outcome.moved_bytes / median_us);
    if (operation->metric == METRIC_RATE)
        fprintf(out, "  %.0f messages/s", (double)result->outcome.moved_messages / median_us * 1e6);
    for (int i = 0; i < result->layout.dimensions; i++)
        fprintf(out, "%s%d", i ? "x" : "  grid ", result->layout.extents[i]);
    if (result->layout.hops > 0)
        fprintf(out, ", %d hop%s", result->layout.hops, result->layout.hops == 1 ? "" : "s");
    if (result->layout.order)
        fputs(", ranks in another order", out);
    if (result->pure_ns > 0)
        fprintf(out, "  overlap %.0f %% (alone %.3f, computation %.3f)",
                100 * fmin(1, fmax(0, 1 - (median_us * 1000 - result->compute_ns) / result->pure_ns)), result->pure_ns / 1000,
                result->compute_ns / 1000);
}

static void print_choices(FILE *out, const struct request *request) {
    const struct choice *choices[MOST_CHOICES];
    const int count = list_choices(find_operation(request->operation), choices);
    char value[NAME_BYTES];
    for (int i = 0; i < count; i++)
        if (request->values[i] != find_default_value(choices[i])) {
            format_value(choices[i], request->values[i], value);
            fprintf(out, "  %s=%s", choices[i]->name, value);
        }
    if (strcmp(request->datatype, find_default_datatype(find_operation(request->operation))) != 0)
        fprintf(out, "  %s", request->datatype);
}

static void print_figures(FILE *out, const struct request *request, const struct result *result, const double *times,
                          int64_t valid) {
    const bool memory = read_requested_choice(request, &quantity_choice) == QUANTITY_MEMORY;
    const double median = find_quantile(times, valid, 0.5) / 1000;
    if (memory) {
        fprintf(out, "%.0f KiB allocated, %.0f KiB of them in this case", median * 1000 / 1024,
                (double)result->outcome.growth_bytes / 1024);
        return;
    }
    fprintf(out, "%10.3f %10.3f %10.3f %10.3f %8lld %6lld", median, find_quantile(times, valid, 0) / 1000,
            find_quantile(times, valid, 0.9) / 1000, find_quantile(times, valid, 0.99) / 1000, (long long)valid,
            (long long)(result->measurement.sample_count - valid));
    print_meaning(out, find_operation(request->operation), result, median);
}

static void print_outcome(FILE *out, const struct result *result, bool probes) {
    if (result->outcome.severity == GOOD && probes)
        fputs("data right", out);
    else
        fprintf(out, "%s%s%s", statuses[result->outcome.severity], *result->outcome.reason ? ": " : ", no valid sample",
                result->outcome.reason);
}

void print_row(FILE *out, const struct request *request, const struct result *result, bool probes) {
    const struct measurement *measurement = &result->measurement;
    fprintf(out, "%-22s %-11s %-9s %9lld ", request->operation, request->form, request->start, (long long)request->bytes);
    int64_t valid = 0;
    double *const times =
        result->outcome.severity == GOOD ? sort_valid_times(find_start(request->start), measurement, &valid) : NULL;
    if (valid > 0)
        print_figures(out, request, result, times, valid);
    else
        print_outcome(out, result, probes);
    print_choices(out, request);
    fputc('\n', out);
    fflush(out);
    free(times);
}
