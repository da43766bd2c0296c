/* The core: starts MPI, learns what is wanted, runs case after case, leaves. */
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "core.h"

enum { WARM_UP_NS = 30000000 };

static void merge_worst(void *into, const void *from, int bytes) {
    (void)bytes;
    if (*(const int *)from > *(int *)into)
        *(int *)into = *(const int *)from;
}

static struct team make_team(MPI_Comm comm) {
    struct team team = {.comm = comm};
    must(MPI_Comm_rank(comm, &team.rank), "MPI_Comm_rank");
    must(MPI_Comm_size(comm, &team.ranks), "MPI_Comm_size");
    return team;
}

static MPI_Comm split(bool in) {
    MPI_Comm comm = MPI_COMM_NULL;
    must(MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, 0, &comm), "MPI_Comm_split");
    return comm;
}

/* The core talks on communicators of its own. Operations run on MPI_COMM_WORLD, as most programs do: some libraries look a
 * predefined communicator up faster than a made one, by several nanoseconds a call. */
static struct world make_world(void) {
    struct world world = {.all = make_team(split(true)), .operations = MPI_COMM_WORLD};
    MPI_Comm pair = split(world.all.rank < 2);
    if (world.all.rank < 2)
        world.pair = make_team(pair);
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

/* Ranks that compete for the same CPUs must give way while they wait for a window to begin. */
static void know_neighbours(struct world *world, const struct rank_fact *mine, const struct rank_fact *facts) {
    int sharing = 0;
    world->ranks_on_host = 0;
    for (int rank = 0; rank < world->all.ranks; rank++) {
        const bool here = strcmp(facts[rank].host, mine->host) == 0;
        world->ranks_on_host += here;
        sharing += here && strcmp(facts[rank].cpus, mine->cpus) == 0;
    }
    world->yields = sharing > count_cpus(mine->cpus);
    world->shares_clock = world->source->shared_on_host && strcmp(facts[0].clock, mine->clock) == 0;
}

/* Every rank sends to the next one and checks what it got from the one before. */
static int check_neighbours(const struct world *world) {
    enum { BYTES = 65536, TAG = 1 };
    const struct team *team = &world->all;
    const int to = (team->rank + 1) % team->ranks, from = (team->rank + team->ranks - 1) % team->ranks;
    unsigned char *data = malloc(2 * BYTES);
    struct mismatch mismatch = {0};
    fill_bytes(data, BYTES, (unsigned)team->rank);
    must(MPI_Sendrecv(data, BYTES, MPI_BYTE, to, TAG, data + BYTES, BYTES, MPI_BYTE, from, TAG, world->operations,
                      MPI_STATUS_IGNORE),
         "MPI_Sendrecv");
    check_bytes(data + BYTES, BYTES, (unsigned)from, 0, &mismatch);
    free(data);
    int wrong = mismatch.wrong_bytes > 0;
    tree_combine(team, &wrong, sizeof wrong, merge_worst);
    return wrong;
}

static int report_check(const struct world *world, const struct rank_fact *facts, const struct launch_fact *launch) {
    const int wrong = check_neighbours(world);
    if (world->all.rank != 0)
        return 0;
    printf("%.*s\none world of %d ranks, data %s\n", (int)strcspn(launch->library, "\n"), launch->library, world->all.ranks,
           wrong ? "WRONG" : "right");
    for (int rank = 0; rank < world->all.ranks; rank++)
        printf("rank %d on %s, cpu %d of %s, %s\n", rank, facts[rank].host, facts[rank].cpu, facts[rank].cpus,
               facts[rank].libmpi);
    return wrong ? EXIT_DATA : 0;
}

/* The first messages between two ranks may be slow for a while: connections are made, and cores wake up. */
static void warm_connections(const struct world *world) {
    enum { BARRIERS = 16 };
    const int64_t until_ns = world->source->read_ns() + WARM_UP_NS;
    for (bool more = true; more; tree_broadcast(&world->all, &more, sizeof more)) {
        for (int i = 0; i < BARRIERS; i++)
            dissemination_barrier(&world->all);
        more = world->source->read_ns() < until_ns;
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
        struct result result = run_case(world, &job->wanted[i]);
        if (leads && stream)
            write_result(stream, i, &job->wanted[i], &result);
        if (leads && !job->quiet)
            print_row(stdout, &job->wanted[i], &result);
        if (leads && strcmp(result.status, "wrong-data") == 0)
            worst = EXIT_DATA;
        else if (leads && job->by_hand && worst == 0)
            worst = strcmp(result.status, "refused") == 0 ? EXIT_INPUT : strcmp(result.status, "failed") == 0 ? EXIT_MPI : 0;
        free(result.measurement.samples);
    }
    return worst;
}

static void tell_facts(const struct job *job, const struct world *world, const struct rank_fact *facts,
                       const struct launch_fact *launch, FILE *stream) {
    if (!job->quiet && !job->check)
        print_head(stdout, launch, world->source, world->all.ranks);
    if (!stream)
        return;
    write_launch(stream, launch, world->source, world->all.ranks);
    for (int rank = 0; rank < world->all.ranks; rank++)
        write_rank(stream, rank, &facts[rank]);
}

static int run_job(struct world *world, const struct job *job, FILE *stream) {
    world->source = find_source(job->source);
    world->synchronisation = find_synchronisation(job->synchronisation);
    const struct rank_fact mine = read_rank_fact();
    const struct launch_fact launch = read_launch_fact(world->source);
    struct rank_fact *facts = malloc(sizeof *facts * (size_t)world->all.ranks);
    for (int rank = 0; rank < world->all.ranks; rank++)
        memset(&facts[rank], 0, sizeof facts[rank]);
    tree_gather(&world->all, &mine, sizeof mine, facts);
    tree_broadcast(&world->all, facts, (int)sizeof *facts * world->all.ranks);
    know_neighbours(world, &mine, facts);
    if (world->all.rank == 0)
        tell_facts(job, world, facts, &launch, stream);
    int worst = job->check ? report_check(world, facts, &launch) : run_cases(world, job, stream);
    if (stream)
        write_end(stream, job->cases);
    free(facts);
    tree_broadcast(&world->all, &worst, sizeof worst);
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
    *stream = fopen(job->stream, "w");
    if (!*stream)
        snprintf(error, LINE_BYTES, "--stream %.300s: %s", job->stream, strerror(errno));
    return *stream != NULL;
}

static int run_under_mpi(struct job *job, bool good, const char *said) {
    char error[LINE_BYTES];
    FILE *stream = NULL;
    int worst = EXIT_INPUT;
    must(MPI_Init(NULL, NULL), "MPI_Init");
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

int main(int argc, char **argv) {
    struct job job;
    char error[LINE_BYTES] = "";
    const bool good = read_job(argc, argv, &job, error);
    if (good && job.describe)
        describe(stdout);
    else if (good && job.help)
        print_help(stdout);
    else
        return run_under_mpi(&job, good, error);
    return EXIT_SUCCESS;
}
