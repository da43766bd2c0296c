/* The core: initialises MPI, reads the request, runs the cases, and ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/core.h"
#include "base/registry.h"
#include "base/rows.h"
#include "base/scan.h"
#include "base/startup.h"
#include "base/steady.h"
#include "base/time_parts.h"
#include "base/tree.h"
#include "case/case.h"
#include "case/cvars.h"
#include "kit/data.h"
#include "output/describe.h"
#include "output/stream.h"
#include "output/table.h"
#include "request/job.h"
#include "request/keys.h"
#include "study/dispatch.h"
#include "study/network.h"
#include "study/rounds.h"
#include "study/state.h"
#include "study/study.h"
#include "study/sums.h"
#include "sync/facts.h"
#include "sync/hop_latency.h"
#include "sync/library_files.h"
#include "sync/source.h"
#include "sync/turns.h"
#include "sync/world.h"
#include "timing/watchdog.h"
#include "verify/completion.h"
#include "verify/variants.h"

enum { WARM_UP_NS = 10000000 };

/* Every rank sends to the next one and checks the data of the one before. */
static int check_neighbours(const struct world *world, int bytes) {
    enum { TAG = 1 };
    const struct team *team = &world->all;
    const int to = (team->rank + 1) % team->ranks, from = (team->rank + team->ranks - 1) % team->ranks;
    unsigned char *data = obtain_memory(2 * (size_t)bytes);
    struct mismatch mismatch = {0};
    fill_bytes(data, bytes, (unsigned)team->rank);
    abort_on_error(
        MPI_Sendrecv(data, bytes, MPI_BYTE, to, TAG, data + bytes, bytes, MPI_BYTE, from, TAG, team->calls, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
    check_bytes(data + bytes, bytes, (unsigned)from, 0, &mismatch);
    free(data);
    int32_t wrong = mismatch.wrong_bytes > 0;
    tree_combine(team, &wrong, sizeof wrong, merge_largest_int);
    return wrong;
}

static void print_rank(void *context, int rank, const void *data) {
    const struct rank_fact *fact = data;
    fprintf(context, "rank %d on %s, cpu %d of %s, %s\n", rank, fact->host, fact->cpu, fact->cpus, fact->libmpi);
}

static int report_check(const struct world *world, int bytes, const struct rank_fact *local, const struct launch_fact *launch,
                        struct network *network, FILE *stream) {
    struct rank_fact fact = *local;
    const int wrong = check_neighbours(world, bytes);
    probe_network(network, world);
    if (stream)
        write_functions(stream);
    if (world->all.rank == 0)
        printf("%.*s\none world of %d ranks, data %s\n", (int)strcspn(launch->library, "\n"), launch->library, world->all.ranks,
               wrong ? "WRONG" : "right");
    gather_alike(&world->all, &fact, sizeof fact, print_rank, stdout);
    return wrong ? EXIT_DATA : 0;
}

/* The first messages between two ranks may be slow: connections are set up, and cores wake up. */
static void warm_up_connections(const struct world *world) {
    enum { BARRIERS = 16 };
    const int64_t until_ns = read_steady_ns() + WARM_UP_NS;
    for (bool more = true; more; tree_broadcast(&world->all, &more, sizeof more)) {
        for (int i = 0; i < BARRIERS; i++)
            dissemination_barrier(&world->all);
        more = read_steady_ns() < until_ns;
    }
}

/* The last visit of the same case, on rank 0. Visits of a case are far apart, so the search begins with the newest. */
static struct last_visit find_last_visit(const struct job *job, const struct last_visit *visits, int index) {
    for (int i = index - 1; i >= 0; i--)
        if (is_same_case(&job->requests[i], &job->requests[index]))
            return visits[i];
    return (struct last_visit){.good = false};
}

static int run_cases(const struct world *world, const struct job *job, struct hop_latency *hop_latency, struct turns *turns,
                     FILE *stream) {
    const bool leads = world->all.rank == 0;
    int exit_code = 0;
    struct last_visit *const visits = obtain_memory(sizeof *visits * (size_t)(job->cases + 1));
    warm_up_connections(world);
    for (int i = 0; i < job->cases; i++) {
        struct last_visit last = leads ? find_last_visit(job, visits, i) : (struct last_visit){.good = false};
        switch_part(PART_HAND_OVER);
        end_turn(turns);
        switch_part(PART_WAIT);
        for (int turn = 0; turn < job->requests[i].idle; turn++) {
            await_turn(turns);
            pass_turn(turns);
        }
        await_turn(turns);
        switch_part(PART_HOP);
        tree_broadcast_patient(&world->all, &last, sizeof last);
        const double hop_ns = measure_hop_ns(hop_latency, world);
        if (leads && stream)
            write_begin(stream, i, hop_ns, find_slot(turns));
        switch_part(PART_PREPARE);
        const struct writer writer = {*job->stream != '\0', stream, i};
        watch_case(&job->requests[i], i, world->all.rank, job->patience_s);
        struct result result = run_case(world, &job->requests[i], last, &writer);
        stop_watching();
        visits[i] = (struct last_visit){result.outcome.severity == GOOD, result.measurement.unsettled};
        if (leads && !job->quiet)
            print_row(stdout, &job->requests[i], &result, job->probe);
        if (leads && result.outcome.severity == WRONG_DATA)
            exit_code = EXIT_DATA;
        else if (leads && job->by_hand && exit_code == 0)
            exit_code = result.outcome.severity == REFUSED ? EXIT_INPUT : result.outcome.severity == FAILED ? EXIT_MPI : 0;
        free(result.measurement.samples);
        free(result.measurement.moments);
        free(result.order);
    }
    free(visits);
    return exit_code;
}

static void write_next_rank(void *context, int rank, const void *data) {
    write_rank(context, rank, data);
}

static void write_next_file(void *context, const struct library_file *file) {
    write_library_file(context, file);
}

static void write_facts(const struct job *job, const struct world *world, const struct rank_fact *local,
                        const struct launch_fact *launch, FILE *stream) {
    struct rank_fact fact = *local;
    if (world->all.rank == 0 && !job->quiet && !job->check && !job->study && !job->sums && !*job->rounds)
        print_head(stdout, launch, world);
    if (*job->stream == '\0')
        return;
    if (world->all.rank == 0)
        write_launch(stream, launch, world);
    gather_alike(&world->all, &fact, sizeof fact, write_next_rank, stream);
    if (world->all.rank == 0 && *job->files)
        each_library_file(job->files, write_next_file, stream);
}

static int64_t read_peak_memory_bytes(void) {
    long kib = 0;
    scan_file("/proc/self/status", "VmHWM: %ld kB", &kib);
    return (int64_t)kib * 1024;
}

static void merge_rest(void *into, const void *from, int bytes) {
    (void)bytes;
    struct rest *local = into;
    const struct rest *theirs = from;
    local->waited_ns += theirs->waited_ns;
    local->busy_ns += theirs->busy_ns;
}

static void write_last_record(const struct world *world, const struct job *job, struct hop_latency *hop_latency,
                              const struct turns *turns, FILE *stream) {
    const struct talk local = {traffic.messages, traffic.bytes, read_peak_memory_bytes()};
    struct talk most = local;
    tree_combine_patient(&world->all, &most, sizeof most, merge_largest);
    struct rest rest = measure_rest(turns);
    tree_combine_patient(&world->all, &rest, sizeof rest, merge_rest);
    const double hop_ns = measure_hop_ns(hop_latency, world);
    if (stream)
        write_end(stream, job->cases, hop_ns, &rest, &local, &most);
}

/* Selects the requested time source if every rank can use it; `auto` always finds one. */
static bool choose_job_source(struct world *world, const struct job *job, char error[LINE_BYTES]) {
    const struct source_fact *request = find_source_fact(world->sources, job->source);
    /* A study may use all of them. */
    world->synchronisation = find_synchronisation(job->study ? "tree" : job->synchronisation);
    world->source = choose_source(world->sources, world->why);
    if (!request)
        return true;
    world->source = find_source(job->source);
    snprintf(world->why, sizeof world->why, "requested; steps of %lld ns and %.0f ns per reading",
             (long long)request->resolution_ns, request->cost_ns);
    if (!request->usable)
        snprintf(error, LINE_BYTES, "--clock %s: %s", job->source, request->reason);
    return request->usable;
}

static int run_request(struct world *world, const struct job *job, const struct rank_fact *local,
                       const struct launch_fact *launch, struct hop_latency *hop_latency, struct turns *turns,
                       struct network *network, FILE *stream) {
    if (job->check)
        return report_check(world, (int)job->check_bytes, local, launch, network, stream);
    if (job->sums)
        return study_sums(world, stream);
    if (*job->rounds)
        return study_rounds(world, job->rounds, stream);
    return job->study ? study_clocks(world, job, stream) : run_cases(world, job, hop_latency, turns, stream);
}

static int run_job(struct world *world, const struct job *job, struct turns *turns, FILE *stream) {
    char error[LINE_BYTES];
    struct source_fact sources[MOST_SOURCES];
    read_sources(&world->all, sources);
    world->sources = sources;
    world->every_rank = job->every_rank;
    world->each_call = job->each_call;
    world->probes = job->probe;
    if (!choose_job_source(world, job, error)) {
        if (world->all.rank == 0)
            fprintf(stderr, "rankbench-core: %s\n", error);
        return EXIT_INPUT;
    }
    use_source(world, world->source, job->separate_clocks);
    const struct rank_fact local = read_rank_fact(world->source);
    const struct launch_fact launch = read_launch_fact();
    world->last_level_cache_bytes = launch.last_level_cache_bytes;
    find_neighbours(world, &local, &launch);
    write_facts(job, world, &local, &launch, stream);
    struct network *const network = open_network(world, job->sysfs);
    struct hop_latency *hop_latency = open_hop_latency(world);
    world->completion_check = open_completion_check(world, job->separate_clocks);
    int exit_code = run_request(world, job, &local, &launch, hop_latency, turns, network, stream);
    close_network(network, world, stream);
    write_last_record(world, job, hop_latency, turns, stream);
    close_hop_latency(hop_latency);
    close_completion_check(world->completion_check);
    free_variants();
    tree_broadcast_patient(&world->all, &exit_code, sizeof exit_code);
    free_neighbours(world);
    release_source(world);
    return exit_code;
}

/* Rank 0 sends the job to all: the file may exist on its host only. */
static bool share_job(const struct team *team, struct job *job, bool good) {
    tree_broadcast(team, &good, sizeof good);
    if (!good)
        return false;
    struct request *const requests = job->requests;
    tree_broadcast(team, job, sizeof *job);
    if (team->rank != 0) {
        free(requests);
        job->requests = obtain_memory(sizeof *job->requests * (size_t)(job->cases + 1));
    }
    tree_broadcast(team, job->requests, (int)sizeof *job->requests * job->cases);
    return true;
}

static bool open_stream(const struct job *job, FILE **stream, char error[LINE_BYTES]) {
    if (*job->stream == '\0')
        return true;
    signal(SIGXFSZ, SIG_IGN); /* A limit of file sizes is then reported like a full disk, by an error code. */
    *stream = fopen(job->stream, "w");
    if (!*stream)
        snprintf(error, LINE_BYTES, "--stream %.300s: %s", job->stream, strerror(errno));
    return *stream != NULL;
}

static int run_in_turn(struct world *world, const struct job *job, struct turns *turns, FILE *stream) {
    int exit_code = EXIT_INPUT;
    if (!turns || tree_agree_patient(&world->all, arrive(turns))) {
        switch_part(PART_WAIT);
        await_turn(turns);
        switch_part(PART_FACTS);
        exit_code = run_job(world, job, turns, stream);
        end_turn(turns);
    } else if (world->all.rank == 0)
        fputs("rankbench-core: --turns: not all launches arrived on every host within 60 s\n", stderr);
    leave_turns(turns);
    return exit_code;
}

/* On rank 0, to the stream's file if there is one. */
static int print_cvars(const struct job *job) {
    char error[LINE_BYTES];
    FILE *stream = NULL;
    int rank, exit_code = EXIT_SUCCESS;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && !open_stream(job, &stream, error)) {
        fprintf(stderr, "rankbench-core: %s\n", error);
        exit_code = EXIT_STREAM;
    } else if (rank == 0 && !list_cvars(stream ? stream : stdout)) {
        fputs("rankbench-core: --cvars: this library has no MPI_T\n", stderr);
        exit_code = EXIT_MPI;
    }
    if (stream)
        fclose(stream);
    MPI_Finalize();
    return exit_code;
}

static int run_under_mpi(struct job *job, bool good, const char *message) {
    char error[LINE_BYTES];
    FILE *stream = NULL;
    int exit_code = EXIT_INPUT;
    switch_part(PART_INIT);
    start_library(good && job->threads); /* Support for threads slows every call. */
    switch_part(PART_JOIN);
    abort_on_error(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    abort_on_error(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    if (good && job->cvars)
        return print_cvars(job);
    struct world world = make_world();
    struct turns *turns = NULL;
    snprintf(error, sizeof error, "%s", message);
    if (world.all.rank == 0 && good)
        good = read_job(job, error) && open_stream(job, &stream, error);
    good = share_job(&world.all, job, good);
    if (good && *job->turns) {
        snprintf(error, sizeof error, "--turns %.300s: not usable on every rank", job->turns);
        good = tree_agree(&world.all, (turns = open_turns(job->turns, &world.all, stream, job->patience_s, error)) != NULL);
    }
    if (good)
        exit_code = run_in_turn(&world, job, turns, stream);
    else if (world.all.rank == 0)
        fprintf(stderr, "rankbench-core: %s\n", error);
    MPI_Finalize();
    if (stream)
        fclose(stream);
    free(job->requests);
    return exit_code;
}

static int print_machine_state(const struct job *job) {
    char error[LINE_BYTES];
    if (print_state(stdout, *job->cpus ? job->cpus : NULL, error, sizeof error))
        return EXIT_SUCCESS;
    fprintf(stderr, "rankbench-core: %s\n", error);
    return EXIT_INPUT;
}

int main(int argc, char **argv) {
    struct job job;
    char error[LINE_BYTES] = "";
    if (!check_rows())
        return EXIT_INPUT;
    const bool good = read_arguments(argc, argv, &job, error);
    if (good && job.state)
        return print_machine_state(&job);
    if (good && job.describe)
        describe(stdout);
    else if (good && job.help)
        print_help(stdout);
    else
        return run_under_mpi(&job, good, error);
    return EXIT_SUCCESS;
}
