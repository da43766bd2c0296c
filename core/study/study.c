/* Study of the clocks: each source on every rank, and for each synchronisation its result, its own error estimate and its
 * cost.
 *
 *   synchronise   fresh   . . . wait . . . aged   synchronise   between
 *
 * `fresh` and `aged` are predictions from the first synchronisation, at once and after a while; `between` is the offset in
 * the middle of the wait, interpolated after the second one. If all ranks run under one kernel the true offset is known:
 * they read one clock, except for the offsets of their time namespaces. */
#define _GNU_SOURCE
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/tree.h"
#include "output/stream.h"
#include "request/job.h"
#include "sync/clock.h"
#include "sync/facts.h"
#include "sync/source.h"
#include "sync/world.h"

enum { FRESH, AGED, BETWEEN, STAGES };
static const char *const stage_names[STAGES] = {"fresh", "aged", "between"};

struct finding {
    struct reading readings[STAGES];
    /* Own readings at these times. */
    int64_t at_ns[STAGES];
    double drift_ppm, drift_bound_ppm;
    int64_t truth_ns;
    bool knows_truth;
};

struct cost {
    int64_t duration_ns;
    int64_t messages;
    int64_t bytes;
};

struct study {
    struct world *world;
    const struct job *job;
    FILE *stream;
    const struct synchronisation *method;
    int run;
    /* For the table: true errors where known, bounds and estimated errors, over all runs and ranks. */
    double *errors, *bounds, *likely;
    int count, known, outside, within;
    struct cost spent;
};

/* --- the truth --- */

struct origin {
    char boot[IDENTITY_BYTES];
    int64_t offset_ns;
};

static void find_truth(const struct world *world, struct finding *finding) {
    struct origin local = {.offset_ns = 0}, first;
    read_identity(SHARED_BY_KERNEL, local.boot);
    if (world->source->sharing == SHARED_BY_NAMESPACE)
        local.offset_ns = read_namespace_offset_ns();
    first = local;
    tree_broadcast(&world->all, &first, sizeof first);
    finding->truth_ns = local.offset_ns - first.offset_ns;
    finding->knows_truth = world->source->sharing != SHARED_BY_NOBODY && strcmp(local.boot, first.boot) == 0;
}

/* --- one run --- */

static void sleep_s(double seconds) {
    const struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&time, NULL);
}

static struct cost time_synchronisation(const struct world *world, const struct synchronisation *method) {
    const struct traffic before = traffic;
    dissemination_barrier(&world->all);
    const int64_t began_ns = world->source->read_ns();
    synchronise(&world->all, world->source, method);
    const int64_t ended_ns = world->source->read_ns();
    return (struct cost){ended_ns - began_ns, traffic.messages - before.messages, traffic.bytes - before.bytes};
}

/* The second synchronisation is timed: the first one also waits, to learn the drift. */
static struct cost run_once(const struct study *study, struct finding *finding) {
    const struct world *world = study->world;
    struct clock *clock = world->all.clock;
    int64_t (*const read_ns)(void) = world->source->read_ns;
    memset(finding, 0, sizeof *finding);
    reset_clock(clock);
    synchronise(&world->all, world->source, study->method);
    finding->at_ns[FRESH] = read_ns();
    finding->readings[FRESH] = predict_offset(clock, finding->at_ns[FRESH]);
    sleep_s(study->job->wait_s);
    finding->at_ns[AGED] = read_ns();
    finding->readings[AGED] = predict_offset(clock, finding->at_ns[AGED]);
    finding->at_ns[BETWEEN] = finding->at_ns[FRESH] + (finding->at_ns[AGED] - finding->at_ns[FRESH]) / 2;
    const struct cost cost = time_synchronisation(world, study->method);
    finding->readings[BETWEEN] = find_offset(clock, finding->at_ns[BETWEEN]);
    finding->drift_ppm = clock->drift * 1e6;
    finding->drift_bound_ppm = clock->drift_bound * 1e6;
    find_truth(world, finding);
    return cost;
}

/* --- showing --- */

static void write_finding(const struct study *study, int rank, const struct finding *finding, int stage) {
    fputs("{\"record\":\"offset\"", study->stream);
    write_text(study->stream, "source", study->world->source->name);
    write_text(study->stream, "synchronisation", study->method->name);
    write_whole(study->stream, "run", study->run);
    write_whole(study->stream, "rank", rank);
    write_text(study->stream, "stage", stage_names[stage]);
    write_whole(study->stream, "at_ns", finding->at_ns[stage]);
    write_real(study->stream, "offset_ns", 1, finding->readings[stage].offset_ns);
    write_real(study->stream, "bound_ns", 1, finding->readings[stage].bound_ns);
    write_real(study->stream, "likely_ns", 1, finding->readings[stage].likely_ns);
    write_real(study->stream, "drift_ppm", 4, finding->drift_ppm);
    write_real(study->stream, "drift_bound_ppm", 4, finding->drift_bound_ppm);
    if (finding->knows_truth)
        write_whole(study->stream, "truth_ns", finding->truth_ns);
    else
        fputs(",\"truth_ns\":null", study->stream);
    end_record(study->stream);
}

static void record_finding(void *context, int rank, const void *data) {
    struct study *study = context;
    const struct finding *finding = data;
    for (int stage = 0; stage < STAGES; stage++) {
        const struct reading *reading = &finding->readings[stage];
        const double error = fabs(reading->offset_ns - (double)finding->truth_ns);
        if (study->stream)
            write_finding(study, rank, finding, stage);
        if (rank == 0)
            continue;
        study->likely[study->count] = reading->likely_ns;
        study->bounds[study->count++] = reading->bound_ns;
        if (finding->knows_truth)
            study->errors[study->known++] = error;
        study->outside += finding->knows_truth && error > reading->bound_ns + 1;
        study->within += finding->knows_truth && error <= reading->likely_ns + 1;
    }
}

static void record_cost(struct study *study, const struct cost *local) {
    struct cost most = *local;
    tree_combine(&study->world->all, &most, sizeof most, merge_largest);
    study->spent = most;
    if (!study->stream)
        return;
    fputs("{\"record\":\"synchronisation\"", study->stream);
    write_text(study->stream, "source", study->world->source->name);
    write_text(study->stream, "synchronisation", study->method->name);
    write_whole(study->stream, "run", study->run);
    write_whole(study->stream, "duration_ns", most.duration_ns);
    write_whole(study->stream, "rank_0_messages", local->messages);
    write_whole(study->stream, "most_messages", most.messages);
    write_whole(study->stream, "rank_0_bytes", local->bytes);
    write_whole(study->stream, "most_bytes", most.bytes);
    end_record(study->stream);
}

static void print_method(struct study *study) {
    sort_values(study->errors, study->known);
    sort_values(study->likely, study->count);
    sort_values(study->bounds, study->count);
    printf("%-13s %-7s", study->world->source->name, study->method->name);
    if (study->known)
        printf(" %9.0f %9.0f %9.0f", find_quantile(study->errors, study->known, 0.5),
               find_quantile(study->errors, study->known, 0.95), find_quantile(study->errors, study->known, 1));
    else
        printf(" %9s %9s %9s", "unknown", "", "");
    printf(" %10.0f", find_quantile(study->likely, study->count, 0.5));
    if (study->known)
        printf(" %6.0f%%", 100.0 * study->within / study->known);
    else
        printf(" %7s", "-");
    printf(" %9.0f %9.0f %8d %10.1f %9lld\n", find_quantile(study->bounds, study->count, 0.5),
           find_quantile(study->bounds, study->count, 1), study->outside, (double)study->spent.duration_ns / 1000,
           (long long)study->spent.messages);
}

/* --- all of it --- */

static void study_method(struct study *study) {
    const struct world *world = study->world;
    const size_t most = (size_t)study->job->runs * (size_t)world->all.ranks * STAGES;
    study->count = study->known = study->outside = study->within = 0;
    if (world->all.rank == 0) {
        study->errors = obtain_memory(sizeof *study->errors * most);
        study->bounds = obtain_memory(sizeof *study->bounds * most);
        study->likely = obtain_memory(sizeof *study->likely * most);
    }
    for (study->run = 0; study->run < study->job->runs; study->run++) {
        struct finding finding;
        const struct cost cost = run_once(study, &finding);
        gather_ranks(&world->all, &finding, sizeof finding, record_finding, study);
        record_cost(study, &cost);
    }
    if (world->all.rank == 0 && !study->job->quiet)
        print_method(study);
    free(study->errors);
    free(study->bounds);
    free(study->likely);
    study->errors = study->bounds = study->likely = NULL;
}

static void write_source(void *context, int rank, const void *data) {
    const struct study *study = context;
    if (study->stream)
        write_clock(study->stream, rank, data);
}

static bool is_requested(const char *wanted, const char *name) {
    return strcmp(wanted, "all") == 0 || strcmp(wanted, name) == 0;
}

static void study_source(struct study *study, const struct source *source, const char *wanted) {
    struct world *world = study->world;
    struct source_fact fact = read_source_fact(source);
    gather_ranks(&world->all, &fact, sizeof fact, write_source, study);
    if (!is_requested(wanted, source->name) || !find_source_fact(world->sources, source->name)->usable)
        return;
    use_source(world, source, study->job->separate_clocks);
    for (const struct synchronisation *const *unit = __start_rb_synchronisation; unit < __stop_rb_synchronisation; unit++)
        if (is_requested(study->job->synchronisation, (*unit)->name)) {
            study->method = *unit;
            study_method(study);
        }
    release_source(world);
}

static void print_sources(const struct world *world) {
    printf("%-13s %9s %9s  %s\n", "time source", "step ns", "cost ns", "");
    for (int i = 0; i < count_sources(); i++) {
        const struct source_fact *fact = &world->sources[i];
        if (fact->usable)
            printf("%-13s %9lld %9.1f  %s\n", fact->name, (long long)fact->resolution_ns, fact->cost_ns, fact->reason);
        else
            printf("%-13s %9s %9s  %s\n", fact->name, "-", "-", fact->reason);
    }
    printf("auto takes %s: %s\n\n", world->source->name, world->why);
    printf("errors and bounds in ns over runs and ranks: right after, a while after, and between synchronisations\n");
    printf("%-13s %-7s %9s %9s %9s %10s %7s %9s %9s %8s %10s %9s\n", "time source", "method", "error p50", "p95", "max",
           "likely p50", "within", "bound p50", "max", "outside", "takes us", "messages");
}

int study_clocks(struct world *world, const struct job *job, FILE *stream) {
    struct study study = {.world = world, .job = job, .stream = stream};
    const struct source *usual = world->source;
    const char *const wanted = strcmp(job->source, "auto") == 0 ? usual->name : job->source;
    if (world->all.rank == 0 && !job->quiet)
        print_sources(world);
    release_source(world);
    for (const struct source *const *unit = __start_rb_source; unit < __stop_rb_source; unit++)
        study_source(&study, *unit, wanted);
    use_source(world, usual, job->separate_clocks);
    return EXIT_SUCCESS;
}
