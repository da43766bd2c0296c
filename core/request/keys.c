/* The keys of a case: defaults, values, and whether they are valid. */
#include "request/keys.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choices.h"
#include "base/registry.h"
#include "kit/memory.h"
#include "request/error.h"

enum { MOST_ALIGNMENT = 1 << 30 };

bool check_operation(const struct request *request, char error[LINE_BYTES]) {
    const struct operation *operation = find_operation(request->operation);
    if (!operation)
        return fail(error, "operation '%s' is not known (--help lists all)", request->operation);
    for (int form = 0; form < FORMS; form++)
        if (operation->forms[form] && strcmp(form_names[form], request->form) == 0)
            return true;
    return fail(error, "%s has no form '%s' (forms are blocking, nonblocking, persistent; not every operation has all)",
                request->operation, request->form);
}

static bool check_datatype(const struct request *request, char error[LINE_BYTES]) {
    const struct datatype *datatype = find_datatype(request->datatype);
    char names[LINE_BYTES] = "";
    if (!datatype) {
        NAMES(datatype, names);
        return fail(error, "datatype '%s' is not known (allowed: %.400s)", request->datatype, names);
    }
    if (!accepts_datatype(find_operation(request->operation), datatype))
        return fail(error, "%s: %s cannot be used (use %s)", request->operation, datatype->name,
                    find_operation(request->operation)->data.datatypes == NUMBERS ? "int, float or double" : "byte");
    if (request->bytes < 0 || request->bytes % datatype->bytes != 0)
        return fail(error, "%s: %lld bytes is not a whole number of %s of %d bytes", request->operation,
                    (long long)request->bytes, datatype->name, datatype->bytes);
    return true;
}

static bool is_one_of(const char *value, const char *const *names) {
    while (*names && strcmp(value, *names) != 0)
        names++;
    return *names != NULL;
}

static bool check_memory(const struct request *request, char error[LINE_BYTES]) {
    const int64_t alignment = request->alignment;
    if (!is_one_of(request->cache, (const char *const[]){"warm", "cold", "written", NULL}))
        return fail(error, "cache '%s' is not known (allowed: warm, cold, written)", request->cache);
    if (!is_one_of(request->buffers, (const char *const[]){"separate", "in-place", NULL}))
        return fail(error, "buffers '%s' are not known (allowed: separate, in-place)", request->buffers);
    if (!is_one_of(request->pages, (const char *const[]){"touched", "untouched", "huge", NULL}))
        return fail(error, "pages '%s' are not known (allowed: touched, untouched, huge)", request->pages);
    if (alignment < 0 || alignment > MOST_ALIGNMENT || (alignment & (alignment - 1)))
        return fail(error, "alignment %lld is no power of two up to %d (0: pages)", (long long)alignment, MOST_ALIGNMENT);
    if (request->root < ROTATING || request->root > INT32_MAX)
        return fail(error, "root %lld is no rank (-1: rotating)", (long long)request->root);
    return true;
}

static bool check_stop(const struct request *request, char error[LINE_BYTES]) {
    const struct stop *stop = &request->stop;
    if (stop->samples < 1 || stop->samples > MOST_SAMPLES || stop->tries < 0 || stop->tries > 4LL * MOST_SAMPLES)
        return fail(error, "%s: samples must be 1 to %d, and tries not below 0", request->operation, MOST_SAMPLES);
    if (stop->rse < 0 || stop->interval < 0 || stop->least < 1)
        return fail(error, "%s: rse and interval must not be below 0, and least not below 1", request->operation);
    if (stop->fill_s < 0)
        return fail(error, "%s: fill_s must not be below 0", request->operation);
    if (!(stop->limit_s > 0))
        return fail(error, "%s: limit_s must be more than 0", request->operation);
    return true;
}

bool check_request(const struct request *request, char error[LINE_BYTES]) {
    char names[LINE_BYTES] = "";
    if (!check_operation(request, error) || !check_datatype(request, error))
        return false;
    NAMES(start, names);
    if (!find_start(request->start))
        return fail(error, "start '%s' is not known (allowed: %.400s)", request->start, names);
    return check_memory(request, error) && check_stop(request, error);
}

bool begin_request(struct request *request, const char *operation_name, char error[LINE_BYTES]) {
    const struct operation *operation = find_operation(operation_name);
    *request = (struct request){
        .cache = "warm",
        .buffers = "separate",
        .pages = "touched",
        .stop = {.samples = 1000, .least = 10, .limit_s = 1.0},
    };
    if (!copy_text(request->operation, NAME_BYTES, "operation", operation_name, error))
        return false;
    if (!operation)
        return true;
    const struct choice *choices[MOST_CHOICES];
    const int count = list_choices(operation, choices);
    for (int i = 0; i < count; i++)
        request->values[i] = find_default_value(choices[i]);
    return copy_text(request->form, NAME_BYTES, "form", find_default_form(operation), error) &&
           copy_text(request->datatype, NAME_BYTES, "datatype", find_default_datatype(operation), error) &&
           copy_text(request->start, NAME_BYTES, "start", operation->timing.start, error);
}

struct field {
    const char *key;
    enum { TEXT, WHOLE, REAL } kind;
    size_t place, bytes;
};

#define FIELD(key, kind, member) {key, kind, offsetof(struct request, member), sizeof(((struct request *)NULL)->member)}

static const struct field fields[] = {
    FIELD("form", TEXT, form),
    FIELD("bytes", WHOLE, bytes),
    FIELD("datatype", TEXT, datatype),
    FIELD("start", TEXT, start),
    FIELD("cache", TEXT, cache),
    FIELD("buffers", TEXT, buffers),
    FIELD("pages", TEXT, pages),
    FIELD("settings", TEXT, settings),
    FIELD("alignment", WHOLE, alignment),
    FIELD("root", WHOLE, root),
    FIELD("samples", WHOLE, stop.samples),
    FIELD("tries", WHOLE, stop.tries),
    FIELD("rse", REAL, stop.rse),
    FIELD("interval", REAL, stop.interval),
    FIELD("least", WHOLE, stop.least),
    FIELD("fill_s", REAL, stop.fill_s),
    FIELD("limit_s", REAL, stop.limit_s),
};

static bool set_field(struct request *request, const struct field *field, const char *value, char error[LINE_BYTES]) {
    void *const into = (char *)request + field->place;
    char *end;
    errno = 0;
    if (field->kind == TEXT)
        return *value ? copy_text(into, field->bytes, field->key, value, error) : fail(error, "%s: no name given", field->key);
    if (field->kind == WHOLE)
        *(int64_t *)into = strtoll(value, &end, 10);
    else
        *(double *)into = strtod(value, &end);
    return (*value && !*end && !errno) || fail(error, "%s: '%s' is not a number", field->key, value);
}

bool is_same_case(const struct request *first, const struct request *other) {
    return memcmp(first, other, offsetof(struct request, idle)) == 0;
}

static bool set_choice(struct request *request, int index, const struct choice *choice, const char *value,
                       char error[LINE_BYTES]) {
    char names[LINE_BYTES / 2] = "";
    if (parse_value(choice, value, &request->values[index]))
        return true;
    if (choice->extents)
        return fail(error, "%s: '%s' is no grid such as 4x4 of up to %d extents from 1 to %d, nor auto", choice->name, value,
                    MOST_DIMENSIONS, MOST_EXTENT);
    if (!choice->names)
        return fail(error, "%s: '%s' is not a whole number from %lld to %lld", choice->name, value, (long long)choice->least,
                    (long long)choice->most);
    for (const char *const *name = choice->names; *name; name++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", *name);
    return fail(error, "%s: '%s' is not known (allowed: %s)", choice->name, value, names);
}

bool set_key(struct request *request, const char *key, const char *value, char error[LINE_BYTES]) {
    char keys[LINE_BYTES / 2] = "operation";
    const struct choice *choices[MOST_CHOICES];
    const struct operation *operation = find_operation(request->operation);
    const int count = operation ? list_choices(operation, choices) : 0;
    for (int i = 0; i < LENGTH(fields); i++) {
        if (strcmp(key, fields[i].key) == 0)
            return set_field(request, &fields[i], value, error);
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), ", %s", fields[i].key);
    }
    for (int i = 0; i < count; i++) {
        if (strcmp(key, choices[i]->name) == 0)
            return set_choice(request, i, choices[i], value, error);
        snprintf(keys + strlen(keys), sizeof keys - strlen(keys), ", %s", choices[i]->name);
    }
    return fail(error, "key '%s' is not known of %s (allowed: %s)", key, request->operation, keys);
}

bool has_choice(const struct operation *operation, const char *name) {
    const struct choice *choices[MOST_CHOICES];
    const int count = list_choices(operation, choices);
    for (int i = 0; i < count; i++)
        if (strcmp(choices[i]->name, name) == 0)
            return true;
    return false;
}

bool is_field(const char *key) {
    for (int i = 0; i < LENGTH(fields); i++)
        if (strcmp(fields[i].key, key) == 0)
            return true;
    return false;
}
