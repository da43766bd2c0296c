#include "study/rounds.h"

#include <stdlib.h>

#include "base/allocation.h"
#include "base/process.h"
#include "base/steady.h"
#include "base/tree.h"
#include "output/stream.h"
#include "study/link_speed.h"
#include "study/node_speed.h"
#include "study/rounds_file.h"
#include "sync/clock.h"

/* What is measured in a round: of each rank in a round of nodes, otherwise of the first rank of each node. 0: unknown. */
enum { MOST_QUANTITIES = 4 };
struct values {
    double value[MOST_QUANTITIES];
};

/* By kind of round; NULL: none. */
static const char *const quantities[ROUND_KINDS][MOST_QUANTITIES] = {
    {"step_ns", "copied_bytes_per_s", "message_ns", "line_ns"},
    {"message_ns", "sent_bytes_per_s", "stretch"},
    {"allreduce_ns"},
};

/* --- what is measured --- */

/* The place of a node in a round; -1: it has none. */
static int find_place(const struct round *round, int node) {
    for (int place = 0; place < round->count; place++)
        if (round->node[place] == node)
            return place;
    return -1;
}

static struct values measure_node(const struct world *world, const struct round *round, int node) {
    struct node_speed speed = {0};
    if (find_place(round, node) >= 0)
        speed = measure_node_speed(world);
    return (struct values){{speed.step_ns, speed.copied_bytes_per_s, speed.message_ns, speed.line_ns}};
}

/* Times and rates are medians, in which the waits of a core that something else uses are lost: so how many times as long
 * all took as it would have with a CPU of its own. 0: unknown. */
static double find_stretch(int64_t lasted_ns, int64_t waited_before_ns) {
    const int64_t waited_ns = read_waited_ns() - waited_before_ns;
    return waited_before_ns < 0 || waited_ns >= lasted_ns ? 0 : (double)lasted_ns / (double)(lasted_ns - waited_ns);
}

/* All pairs do the same at the same time. */
static struct values measure_pair(const struct team *leaders, const struct round *round) {
    const int place = find_place(round, leaders->rank), partner = place < 0 ? -1 : round->node[place ^ 1];
    const bool first = place % 2 == 0;
    struct values values = {{0}};
    if (place >= 0)
        connect_ranks(leaders, partner, first);
    dissemination_barrier(leaders);
    const int64_t begin_ns = read_steady_ns(), waited_ns = read_waited_ns();
    if (place >= 0)
        values.value[0] = time_message_ns(leaders, partner, first);
    for (int way = 0; way < 2; way++) {
        const bool sends = first == (way == 0);
        dissemination_barrier(leaders);
        const double bytes_per_s = place < 0 ? 0 : stream_messages(leaders, partner, sends);
        values.value[1] = sends ? bytes_per_s : values.value[1];
    }
    values.value[2] = place < 0 ? 0 : find_stretch(read_steady_ns() - begin_ns, waited_ns);
    return values;
}

static struct values measure_group(const struct team *leaders, const struct round *round) {
    const int place = find_place(round, leaders->rank), group = place < 0 ? MPI_UNDEFINED : place / round->size;
    struct values values = {{0}};
    MPI_Comm comm;
    abort_on_error(MPI_Comm_split(leaders->comm, group, place, &comm), "MPI_Comm_split");
    dissemination_barrier(leaders);
    if (place < 0)
        return values;
    values.value[0] = time_allreduce_ns(comm);
    abort_on_error(MPI_Comm_free(&comm), "MPI_Comm_free");
    return values;
}

/* --- rounds --- */

/* Ranks that wait for the next round sleep. */
static void share_round(const struct team *team, struct round *round) {
    int32_t head[] = {round->kind, round->size, round->count};
    tree_broadcast_patient(team, head, sizeof head);
    if (team->rank != 0)
        *round = (struct round){head[0], head[1], head[2], obtain_memory(sizeof *round->node * (size_t)(head[2] + 1))};
    tree_broadcast(team, round->node, (int)sizeof *round->node * head[2]);
}

struct gathered {
    int count;
    struct values *values;
};

static void keep_values(void *context, int rank, const void *data) {
    struct gathered *const all = context;
    all->values[rank] = *(const struct values *)data;
    all->count = rank + 1;
}

static void write_quantity(FILE *stream, int number, int quantity, const char *name, const struct gathered *all) {
    fprintf(stream, "{\"record\":\"round\",\"round\":%d,\"quantity\":\"%s\",\"values\":[", number, name);
    for (int i = 0; i < all->count; i++) {
        const double value = all->values[i].value[quantity];
        fputs(i ? "," : "", stream);
        if (value > 0)
            fprintf(stream, "%.7g", value);
        else
            fputs("null", stream);
    }
    fputc(']', stream);
    end_record(stream);
}

static void run_round(const struct world *world, const struct round *round, int number, FILE *stream) {
    const struct clock *const host = world->hosts;
    const struct team *const leaders = &host->clocks, *const team = round->kind == ROUND_NODES ? &world->all : leaders;
    const bool leads = host->readers.rank == 0;
    int32_t node = leads ? leaders->rank : 0;
    struct values values = {{0}};
    struct gathered all = {0};
    if (round->kind == ROUND_NODES) {
        tree_broadcast(&host->readers, &node, sizeof node);
        values = measure_node(world, round, node);
    } else if (leads) {
        values = round->kind == ROUND_PAIRS ? measure_pair(leaders, round) : measure_group(leaders, round);
    } else {
        return;
    }
    if (team->rank == 0)
        all.values = obtain_memory(sizeof *all.values * (size_t)team->ranks);
    gather_ranks(team, &values, sizeof values, keep_values, &all);
    for (int i = 0; stream && i < MOST_QUANTITIES && quantities[round->kind][i]; i++)
        write_quantity(stream, number, i, quantities[round->kind][i], &all);
    free(all.values);
}

int study_rounds(const struct world *world, const char *path, FILE *stream) {
    const struct team *const team = &world->all;
    char error[LINE_BYTES] = "";
    struct rounds rounds = {0};
    int32_t count = -1;
    if (team->rank == 0 && read_rounds(path, world->hosts->number_of_clocks, &rounds, error))
        count = rounds.count;
    else if (team->rank == 0)
        fprintf(stderr, "rankbench-core: %s\n", error);
    tree_broadcast(team, &count, sizeof count);
    for (int i = 0; i < count; i++) {
        struct round round = team->rank == 0 ? rounds.round[i] : (struct round){0};
        share_round(team, &round);
        run_round(world, &round, i, stream);
        if (team->rank != 0)
            free(round.node);
    }
    free_rounds(&rounds);
    return count < 0 ? EXIT_INPUT : EXIT_SUCCESS;
}
