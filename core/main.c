/* The core: starts MPI, learns what is wanted, runs case after case, leaves. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "startup.h"
#include "steady.h"
#include "state.h"
#include "watchdog.h"

enum { WARM_UP_NS = 30000000 };

static void merge_worst(void *into, const void *from, int bytes) {
    (void)bytes;
    if (*(const int *)from > *(int *)into)
        *(int *)into = *(const int *)from;
}

static MPI_Comm split(bool in) {
    MPI_Comm comm = MPI_COMM_NULL;
    must(MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, 0, &comm), "MPI_Comm_split");
    return comm;
}

/* The first so many ranks. The core talks on a communicator of its own. Operations go to MPI_COMM_WORLD, as in most programs: some
 * libraries look a predefined communicator up faster than a made one, by several nanoseconds a call. */
static struct team make_team(int ranks) {
    int rank, all;
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    must(MPI_Comm_size(MPI_COMM_WORLD, &all), "MPI_Comm_size");
    const bool in = rank < ranks, whole = ranks >= all;
    const MPI_Comm talk = split(in), members = whole ? MPI_COMM_WORLD : split(in);
    return in ? (struct team){.comm = talk, .calls = MPI_COMM_WORLD, .members = members, .rank = rank, .ranks = whole ? all : ranks}
              : (struct team){.rank = rank};
}

static struct world make_world(void) {
    struct world world = {.all = make_team(INT_MAX)};
    const int pairs = world.all.ranks / 2 * 2;
    world.pair = world.all.ranks == 2 ? world.all : make_team(2);
    world.even = pairs == 2 ? world.pair : pairs == world.all.ranks ? world.all : make_team(pairs);
    return world;
}

static int count_cpus(const char *list) {
    int count = 0, first, last, used;
    for (; sscanf(list, "%d%n", &first, &used) == 1; list += strcspn(list, ","), list += *list == ',') {
        last = first;
        if (list[used] == '-')
            last = atoi(list + used + 1);
        count += last - first + 1;
    }
    return count;
}

/* Number of ranks for which a text is the same. */
static int count_alike(const struct team *team, const char *text) {
    struct clock *alike = make_clock(team, text, 0);
    const int count = alike->readers.ranks;
    free_clock(alike);
    return count;
}

/* Ranks that compete for the same CPUs must give way while they wait for a window to begin. */
static void know_neighbours(struct world *world, const struct rank_fact *mine, const struct launch_fact *launch) {
    char seat[IDENTITY_BYTES], cache[IDENTITY_BYTES];
    snprintf(cache, sizeof cache, "%.90s %.90s", mine->host, launch->cache_sharers);
    world->ranks_on_cache = count_alike(&world->all, cache);
    snprintf(seat, sizeof seat, "%.90s %.90s", mine->host, mine->cpus);
    world->ranks_on_host = count_alike(&world->all, mine->host);
    world->yields = count_alike(&world->all, seat) > count_cpus(mine->cpus);
}

/* Ranks that read one clock agree on what it counts from and how fast. */
static void make_clocks(struct world *world, struct team *team, bool separate) {
    char identity[IDENTITY_BYTES];
    const struct source *source = world->source;
    const int64_t step_ns = fact_of(world->sources, source->name)->resolution_ns;
    read_identity(source->sharing, identity);
    team->clock = make_clock(team, identity, step_ns);
    tree_broadcast(&team->clock->readers, source->parameters, source->parameter_bytes);
    if (!separate)
        return;
    free_clock(team->clock);
    snprintf(identity, sizeof identity, "of rank %d", team->rank);
    team->clock = make_clock(team, identity, step_ns);
}

/* Teams of the same ranks are one team. */
static void each_team(struct world *world, void (*act)(struct world *, struct team *)) {
    act(world, &world->all);
    if (world->pair.comm != world->all.comm && world->pair.ranks > 0)
        act(world, &world->pair);
    else
        world->pair.clock = world->pair.ranks > 0 ? world->all.clock : NULL;
    if (world->even.ranks > 0 && world->even.comm != world->all.comm && world->even.comm != world->pair.comm)
        act(world, &world->even);
    else
        world->even.clock = world->even.ranks == 0 ? NULL : world->even.comm == world->all.comm ? world->all.clock : world->pair.clock;
}

static void make_shared(struct world *world, struct team *team) {
    make_clocks(world, team, false);
}

static void make_separate(struct world *world, struct team *team) {
    make_clocks(world, team, true);
}

static void leave_clock(struct world *world, struct team *team) {
    (void)world;
    free_clock(team->clock);
}

void take_source(struct world *world, const struct source *source, bool separate_clocks) {
    world->source = source;
    each_team(world, separate_clocks ? make_separate : make_shared);
}

void leave_source(struct world *world) {
    each_team(world, leave_clock);
}

/* Every rank sends to the next one and checks what it got from the one before. */
static int check_neighbours(const struct world *world) {
    enum { BYTES = 65536, TAG = 1 };
    const struct team *team = &world->all;
    const int to = (team->rank + 1) % team->ranks, from = (team->rank + team->ranks - 1) % team->ranks;
    unsigned char *data = malloc(2 * BYTES);
    struct mismatch mismatch = {0};
    fill_bytes(data, BYTES, (unsigned)team->rank);
    must(MPI_Sendrecv(data, BYTES, MPI_BYTE, to, TAG, data + BYTES, BYTES, MPI_BYTE, from, TAG, team->calls,
                      MPI_STATUS_IGNORE),
         "MPI_Sendrecv");
    check_bytes(data + BYTES, BYTES, (unsigned)from, 0, &mismatch);
    free(data);
    int wrong = mismatch.wrong_bytes > 0;
    tree_combine(team, &wrong, sizeof wrong, merge_worst);
    return wrong;
}

static void print_rank(void *context, int rank, const void *data) {
    const struct rank_fact *fact = data;
    fprintf(context, "rank %d on %s, cpu %d of %s, %s\n", rank, fact->host, fact->cpu, fact->cpus, fact->libmpi);
}

static int report_check(const struct world *world, const struct rank_fact *mine, const struct launch_fact *launch) {
    struct rank_fact fact = *mine;
    const int wrong = check_neighbours(world);
    if (world->all.rank == 0)
        printf("%.*s\none world of %d ranks, data %s\n", (int)strcspn(launch->library, "\n"), launch->library,
               world->all.ranks, wrong ? "WRONG" : "right");
    hand_over(&world->all, &fact, sizeof fact, print_rank, stdout);
    return wrong ? EXIT_DATA : 0;
}

/* The first messages between two ranks may be slow for a while: connections are made, and cores wake up. */
static void warm_connections(const struct world *world) {
    enum { BARRIERS = 16 };
    const int64_t until_ns = steady_ns() + WARM_UP_NS;
    for (bool more = true; more; tree_broadcast(&world->all, &more, sizeof more)) {
        for (int i = 0; i < BARRIERS; i++)
            dissemination_barrier(&world->all);
        more = steady_ns() < until_ns;
    }
}

static int run_cases(const struct world *world, const struct job *job, FILE *stream) {
    const bool leads = world->all.rank == 0;
    int worst = 0;
    warm_connections(world);
    for (int i = 0; i < job->cases; i++) {
        if (leads && stream)
            write_begin(stream, i);
        int number = i;
        tree_broadcast_patient(&world->all, &number, sizeof number);
        const struct teller teller = {*job->stream != '\0', stream, i};
        watch_case(&job->wanted[i], i, world->all.rank, job->patience_s);
        struct result result = run_case(world, &job->wanted[i], &teller);
        unwatch();
        if (leads && !job->quiet)
            print_row(stdout, &job->wanted[i], &result, job->probe);
        if (leads && strcmp(result.status, "wrong-data") == 0)
            worst = EXIT_DATA;
        else if (leads && job->by_hand && worst == 0)
            worst = strcmp(result.status, "refused") == 0 ? EXIT_INPUT : strcmp(result.status, "failed") == 0 ? EXIT_MPI : 0;
        free(result.measurement.samples);
        free(result.measurement.moments);
        free(result.order);
    }
    return worst;
}

static void write_one_rank(void *context, int rank, const void *data) {
    write_rank(context, rank, data);
}

static void tell_facts(const struct job *job, const struct world *world, const struct rank_fact *mine,
                       const struct launch_fact *launch, FILE *stream) {
    struct rank_fact fact = *mine;
    if (world->all.rank == 0 && !job->quiet && !job->check && !job->study)
        print_head(stdout, launch, world);
    if (*job->stream == '\0')
        return;
    if (world->all.rank == 0)
        write_launch(stream, launch, world);
    hand_over(&world->all, &fact, sizeof fact, write_one_rank, stream);
}

static int64_t memory_bytes(void) {
    char line[LINE_BYTES];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld kB", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return (int64_t)kib * 1024;
}

static void merge_most_talk(void *into, const void *from, int bytes) {
    int64_t *mine = into;
    const int64_t *theirs = from;
    for (int i = 0; i < bytes / (int)sizeof *mine; i++)
        mine[i] = theirs[i] > mine[i] ? theirs[i] : mine[i];
}

static void tell_end(const struct world *world, const struct job *job, FILE *stream) {
    const struct talk mine = {traffic.messages, traffic.bytes, memory_bytes()};
    struct talk most = mine;
    tree_combine_patient(&world->all, &most, sizeof most, merge_most_talk);
    if (stream)
        write_end(stream, job->cases, &mine, &most);
}

/* The time source that was asked for, if every rank can use it; `auto` always finds one. */
static bool choose(struct world *world, const struct job *job, char error[LINE_BYTES]) {
    const struct source_fact *wanted = fact_of(world->sources, job->source);
    /* A study may be of all of them. */
    world->synchronisation = find_synchronisation(job->study ? "tree" : job->synchronisation);
    world->source = choose_source(world->sources, world->why);
    if (!wanted)
        return true;
    world->source = find_source(job->source);
    snprintf(world->why, sizeof world->why, "asked for; steps of %lld ns and %.0f ns a reading",
             (long long)wanted->resolution_ns, wanted->cost_ns);
    if (!wanted->usable)
        snprintf(error, LINE_BYTES, "--clock %s: %s", job->source, wanted->reason);
    return wanted->usable;
}

static int run_what_is_wanted(struct world *world, const struct job *job, const struct rank_fact *mine,
                              const struct launch_fact *launch, FILE *stream) {
    if (job->check)
        return report_check(world, mine, launch);
    return job->study ? study_clocks(world, job, stream) : run_cases(world, job, stream);
}

static int run_job(struct world *world, const struct job *job, FILE *stream) {
    char error[LINE_BYTES];
    struct source_fact sources[MOST_SOURCES];
    read_sources(&world->all, sources);
    world->sources = sources;
    world->every_rank = job->every_rank;
    world->probes = job->probe;
    if (!choose(world, job, error)) {
        if (world->all.rank == 0)
            fprintf(stderr, "rankbench-core: %s\n", error);
        return EXIT_INPUT;
    }
    take_source(world, world->source, job->separate_clocks);
    const struct rank_fact mine = read_rank_fact(world->source);
    const struct launch_fact launch = read_launch_fact();
    world->last_level_cache_bytes = launch.last_level_cache_bytes;
    know_neighbours(world, &mine, &launch);
    tell_facts(job, world, &mine, &launch, stream);
    int worst = run_what_is_wanted(world, job, &mine, &launch, stream);
    tell_end(world, job, stream);
    tree_broadcast_patient(&world->all, &worst, sizeof worst);
    leave_source(world);
    return worst;
}

/* What rank 0 read holds for all: the job file may be on its host only. */
static bool share_job(const struct team *team, struct job *job, bool good) {
    tree_broadcast(team, &good, sizeof good);
    if (!good)
        return false;
    tree_broadcast(team, job, sizeof *job);
    if (team->rank != 0)
        job->wanted = malloc(sizeof *job->wanted * (size_t)(job->cases + 1));
    tree_broadcast(team, job->wanted, (int)sizeof *job->wanted * job->cases);
    return true;
}

static bool open_stream(const struct job *job, FILE **stream, char error[LINE_BYTES]) {
    if (*job->stream == '\0')
        return true;
    signal(SIGXFSZ, SIG_IGN); /* A limit of file sizes is then met as a full disk is: by an error that can be told. */
    *stream = fopen(job->stream, "w");
    if (!*stream)
        snprintf(error, LINE_BYTES, "--stream %.300s: %s", job->stream, strerror(errno));
    return *stream != NULL;
}

/* Threads cost every call, so that the library is told of them only where a case of the job has some. */
static bool uses_threads(const struct job *job) {
    for (int i = 0; i < job->cases; i++)
        if (value_of(&job->wanted[i], &threads_choice) > 1)
            return true;
    return false;
}

static int run_under_mpi(struct job *job, bool good, const char *said) {
    char error[LINE_BYTES];
    FILE *stream = NULL;
    int worst = EXIT_INPUT;
    start_library(good && uses_threads(job));
    must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    must(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    struct world world = make_world();
    snprintf(error, sizeof error, "%s", said);
    if (world.all.rank == 0 && good)
        good = open_stream(job, &stream, error);
    if (share_job(&world.all, job, good))
        worst = run_job(&world, job, stream);
    else if (world.all.rank == 0)
        fprintf(stderr, "rankbench-core: %s\n", error);
    MPI_Finalize();
    if (stream)
        fclose(stream);
    return worst;
}

static int tell_state(const struct job *job) {
    char error[LINE_BYTES];
    if (print_state(stdout, *job->cpus ? job->cpus : NULL, error, sizeof error))
        return EXIT_SUCCESS;
    fprintf(stderr, "rankbench-core: %s\n", error);
    return EXIT_INPUT;
}

int main(int argc, char **argv) {
    struct job job;
    char error[LINE_BYTES] = "";
    const bool good = read_job(argc, argv, &job, error);
    if (good && job.state)
        return tell_state(&job);
    if (good && job.describe)
        describe(stdout);
    else if (good && job.help)
        print_help(stdout);
    else
        return run_under_mpi(&job, good, error);
    return EXIT_SUCCESS;
}
