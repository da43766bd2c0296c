/* Which time sources are usable, their resolution and cost, and the choice of `auto`. */
#include "sync/source.h"

#include <stdio.h>
#include <string.h>

#include "base/registry.h"
#include "base/tree.h"

static int64_t measure_step(const struct source *source) {
    enum { STEPS = 30, READS = 10000000 };
    int64_t smallest = INT64_MAX;
    for (int i = 0; i < STEPS; i++) {
        const int64_t before = source->read_ns();
        int64_t after = before;
        for (int reads = 0; after == before && reads < READS; reads++)
            after = source->read_ns();
        if (after > before && after - before < smallest)
            smallest = after - before;
    }
    return smallest;
}

static double measure_cost(const struct source *source) {
    enum { READS = 200, TRIES = 20 };
    double smallest = 1e30;
    for (int try = 0; try < TRIES; try++) {
        const int64_t before = source->read_ns();
        for (int i = 1; i < READS; i++)
            source->read_ns();
        const double cost = (double)(source->read_ns() - before) / READS;
        if (cost < smallest)
            smallest = cost;
    }
    return smallest;
}

static struct source_fact prepare(const struct source *source) {
    struct source_fact fact = {.usable = true};
    snprintf(fact.name, sizeof fact.name, "%s", source->name);
    snprintf(fact.reason, sizeof fact.reason, "%s", source->help);
    if (source->prepare)
        fact.usable = source->prepare(fact.reason);
    return fact;
}

struct source_fact read_source_fact(const struct source *source) {
    struct source_fact fact = prepare(source);
    if (!fact.usable)
        return fact;
    fact.resolution_ns = measure_step(source);
    fact.cost_ns = measure_cost(source);
    return fact;
}

static void merge_unusable(void *into, const void *from, int bytes) {
    struct source_fact *local = into;
    const struct source_fact *theirs = from;
    for (int i = 0; i < bytes / (int)sizeof *local; i++)
        if (local[i].usable && !theirs[i].usable)
            local[i] = theirs[i];
}

/* A source is usable if every rank can use it; resolution and cost are rank 0's. */
void read_sources(const struct team *team, struct source_fact facts[MOST_SOURCES]) {
    memset(facts, 0, sizeof *facts * MOST_SOURCES);
    for (int i = 0; i < count_sources(); i++)
        facts[i] = team->rank == 0 ? read_source_fact(__start_rb_source[i]) : prepare(__start_rb_source[i]);
    tree_combine(team, facts, (int)sizeof *facts * count_sources(), merge_unusable);
    tree_broadcast(team, facts, (int)sizeof *facts * count_sources());
}

int count_sources(void) {
    return (int)(__stop_rb_source - __start_rb_source);
}

const struct source_fact *find_source_fact(const struct source_fact *facts, const char *name) {
    for (int i = 0; i < count_sources(); i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

/* CLOCK_MONOTONIC_RAW, which always exists, unless the processor's counter is as fine and as cheap. Both have a
 * constant rate and are never set; other sources are used on request only. */
const struct source *choose_source(const struct source_fact *facts, char reason[REASON_BYTES]) {
    const struct source_fact *usual = find_source_fact(facts, "clock_gettime"), *counter = NULL;
    for (int i = 0; i < count_sources(); i++)
        if (__start_rb_source[i]->prepare)
            counter = &facts[i];
    if (!counter || !counter->usable) {
        snprintf(reason, REASON_BYTES, "the processor's counter is not usable: %.120s", counter ? counter->reason : "none");
        return find_source(usual->name);
    }
    const bool better = counter->resolution_ns <= 2 * usual->resolution_ns && counter->cost_ns <= 1.5 * usual->cost_ns;
    const struct source_fact *chosen_source = better ? counter : usual, *rejected_source = better ? usual : counter;
    snprintf(reason, REASON_BYTES, "steps of %lld ns and %.0f ns per reading (%s: %lld ns and %.0f ns)",
             (long long)chosen_source->resolution_ns, chosen_source->cost_ns, rejected_source->name,
             (long long)rejected_source->resolution_ns, rejected_source->cost_ns);
    return find_source(chosen_source->name);
}
