/* Preparation and cleanup of a case. */
#ifndef RANKBENCH_PREPARE_H
#define RANKBENCH_PREPARE_H

#include "verify/setting.h"

struct call make_call(const struct plan *plan, const struct team *team);

void make_worker(const struct setting *setting, struct worker *worker);
void free_worker(struct worker *worker);

/* No rank allocates before all have read the free memory. */
void plan_memory(const struct setting *setting);
void allocate_memory(const struct setting *setting);

/* Each thread has its own communicator, as the standard requires for collectives; memory is measured on a new
 * communicator. */
void make_communicators(const struct setting *setting);
void free_communicators(const struct setting *setting);

void prepare_worker(const struct setting *setting, struct worker *worker);
void finish_worker(const struct setting *setting, struct worker *worker);

/* Stores the bytes and messages of a call, from the operation or from its amounts. */
void count_moves(const struct setting *setting);

#endif
