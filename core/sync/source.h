/* Properties of the time sources. */
#ifndef RANKBENCH_SOURCE_H
#define RANKBENCH_SOURCE_H

#include "base/op.h"

enum { MOST_SOURCES = 8 };

struct source_fact {
    char name[NAME_BYTES];
    char reason[REASON_BYTES];
    bool usable;
    int64_t resolution_ns;
    double cost_ns;
};

int count_sources(void);
struct source_fact read_source_fact(const struct source *source);
void read_sources(const struct team *team, struct source_fact facts[MOST_SOURCES]);
const struct source_fact *find_source_fact(const struct source_fact *facts, const char *name);
const struct source *choose_source(const struct source_fact *facts, char reason[REASON_BYTES]);

#endif
