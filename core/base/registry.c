/* Finds the units that registered themselves. */
#include "base/registry.h"

#include <string.h>

const char *const form_names[FORMS] = {"blocking", "nonblocking", "persistent"};
const char *const kind_names[KINDS] = {NULL,        "collective", "point-to-point", "neighbourhood",
                                       "one-sided", "process",    "local",          "self-test"};
const char *const metric_names[METRICS] = {"time", "latency", "bandwidth", "rate"};

const char *last_missing_call = "";

int missing_call(const char *name, ...) {
    last_missing_call = name;
    return CALL_MISSING;
}

#define FINDER(kind) \
    const struct kind *find_##kind(const char *name) { \
        for (const struct kind *const *unit = __start_rb_##kind; unit < __stop_rb_##kind; unit++) \
            if (strcmp((*unit)->name, name) == 0) \
                return *unit; \
        return NULL; \
    }

/* The order of units in the section is the linker's; output is in the order of names. */
#define NEXT(kind) \
    const struct kind *next_##kind(const struct kind *before) { \
        const struct kind *next = NULL; \
        for (const struct kind *const *unit = __start_rb_##kind; unit < __stop_rb_##kind; unit++) \
            if ((!before || strcmp((*unit)->name, before->name) > 0) && (!next || strcmp((*unit)->name, next->name) < 0)) \
                next = *unit; \
        return next; \
    }

FINDER(operation)
FINDER(datatype)
FINDER(start)
FINDER(source)
FINDER(synchronisation)
NEXT(operation)
NEXT(datatype)
NEXT(start)
NEXT(source)
NEXT(synchronisation)

const char *find_default_datatype(const struct operation *operation) {
    return operation->data.datatypes == NUMBERS ? "float" : operation->data.datatypes == WHOLE_NUMBERS ? "int" : "byte";
}

const char *find_default_form(const struct operation *operation) {
    int form = operation->usual;
    while (!operation->forms[form])
        form++;
    return form_names[form];
}

bool accepts_datatype(const struct operation *operation, const struct datatype *datatype) {
    if (operation->data.datatypes == BYTES)
        return strcmp(datatype->name, "byte") == 0;
    if (operation->data.datatypes == WHOLE_NUMBERS)
        return datatype->basic == MPI_INT;
    return operation->data.datatypes == ANY_DATATYPE ||
           (datatype->basic != MPI_DATATYPE_NULL && !datatype->make && datatype->bytes > 1);
}
