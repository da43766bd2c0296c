/* The units that registered themselves, by name. */
#ifndef RANKBENCH_REGISTRY_H
#define RANKBENCH_REGISTRY_H

#include "base/op.h"

extern const char *const form_names[FORMS];
extern const char *const kind_names[KINDS];
extern const char *const metric_names[METRICS];
extern const char *last_missing_call;
const struct operation *find_operation(const char *name);
const struct start *find_start(const char *name);
const struct source *find_source(const char *name);
const struct synchronisation *find_synchronisation(const char *name);
/* Returns the unit after `before` in the order of names; NULL: the first one, and after the last. */
const struct operation *next_operation(const struct operation *before);
const struct datatype *next_datatype(const struct datatype *before);
const struct start *next_start(const struct start *before);
const struct source *next_source(const struct source *before);
const struct synchronisation *next_synchronisation(const struct synchronisation *before);
#define EACH_BY_NAME(kind, unit) for (const struct kind *unit = next_##kind(NULL); unit; unit = next_##kind(unit))
const struct datatype *find_datatype(const char *name);
const char *find_default_datatype(const struct operation *operation);
const char *find_default_form(const struct operation *operation);
bool accepts_datatype(const struct operation *operation, const struct datatype *datatype);

#endif
