/* The printed table. */
#ifndef RANKBENCH_TABLE_H
#define RANKBENCH_TABLE_H

#include "output/result.h"
#include "sync/facts.h"

void print_head(FILE *out, const struct launch_fact *launch, const struct world *world);
void print_row(FILE *out, const struct request *request, const struct result *result, bool probes);

#endif
