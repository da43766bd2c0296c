/* What a case needs on a rank. */
#ifndef RANKBENCH_SETTING_H
#define RANKBENCH_SETTING_H

#include "base/choices.h"
#include "kit/memory.h"
#include "kit/reference.h"
#include "sync/world.h"
#include "timing/overlap.h"
#include "timing/pace.h"
#include "verify/outcome.h"

struct plan {
    const struct operation *operation;
    enum form form;
    const struct start *start;
    const struct request *request;
    struct last_visit last;
    /* Ends with an entry without a choice. */
    struct choice_value choices[MOST_CHOICES + 1];
};

/* What one thread of this rank needs; there are several only with threads > 1. */
struct worker {
    struct call call;
    struct buffers buffers;
    struct work work;
    /* Whether data were missing when the call that delivers them returned. */
    bool late;
    struct reference reference;
};

/* What a case needs on this rank. */
struct setting {
    const struct world *world;
    const struct team *team;
    const struct plan *plan;
    struct worker *workers;
    int threads;
    struct outcome *outcome;
};

#define EACH_WORKER(worker, setting) \
    for (struct worker *worker = (setting)->workers; worker < (setting)->workers + (setting)->threads; worker++)

static inline struct call *first_call(const struct setting *setting) {
    return &setting->workers->call;
}

static inline int64_t read_case_choice(const struct setting *setting, const struct choice *choice) {
    return read_choice(first_call(setting), choice);
}

#endif
