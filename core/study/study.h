/* Study of time sources and synchronisations. */
#ifndef RANKBENCH_STUDY_H
#define RANKBENCH_STUDY_H

#include "request/job.h"
#include "sync/world.h"

int study_clocks(struct world *world, const struct job *job, FILE *stream);

#endif
