/* Errors of a request: one line. */
#ifndef RANKBENCH_ERROR_H
#define RANKBENCH_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"

/* Returns false, so that a check can end with `return fail(...)`. */
static inline bool fail(char error[LINE_BYTES], const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(error, LINE_BYTES, format, values);
    va_end(values);
    return false;
}

/* No text is cut: what does not fit is an error that names the key. */
static inline bool copy_text(char *into, size_t room, const char *key, const char *value, char error[LINE_BYTES]) {
    const size_t length = strlen(value);
    if (length >= room)
        return fail(error, "%.60s: %zu characters, at most %zu are allowed: %.60s...", key, length, room - 1, value);
    memset(into, 0, room); /* So that equal texts have equal bytes. */
    memcpy(into, value, length);
    return true;
}

/* Adds the names of all units of a kind to a text of LINE_BYTES. */
#define NAMES(kind, into) \
    do { \
        EACH_BY_NAME(kind, unit) \
            snprintf((into) + strlen(into), LINE_BYTES - strlen(into), "%s%s", *(into) ? ", " : "", unit->name); \
    } while (0)

#endif
