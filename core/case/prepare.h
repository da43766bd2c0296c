/* What a case needs before it runs, and how that is given back. */
#ifndef RANKBENCH_PREPARE_H
#define RANKBENCH_PREPARE_H

#include "verify/setting.h"

struct call make_call(const struct plan *plan, const struct team *team);

void make_worker(const struct setting *setting, struct worker *worker);
void free_worker(struct worker *worker);

/* Nobody takes memory before all have seen how much there is. */
void plan_memory(const struct setting *setting);
void allocate_memory(const struct setting *setting);

/* Threads call on communicators of their own, as the standard asks of collectives, and memory is that of a fresh one. */
void make_communicators(const struct setting *setting);
void free_communicators(const struct setting *setting);

void prepare_worker(const struct setting *setting, struct worker *worker);
void finish_worker(const struct setting *setting, struct worker *worker);

/* Notes how much a call moves, as the operation says or else as the amounts of its buffers do. */
void count_moves(const struct setting *setting);

#endif
