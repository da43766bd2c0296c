#include "request/sizes.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "request/error.h"

static bool parse_size(const char *text, int64_t *bytes, char **end) {
    const char *const units = "KMG";
    errno = 0;
    *bytes = strtoll(text, end, 10);
    if (*end == text || *bytes < 0 || errno)
        return false;
    const char *unit = **end ? strchr(units, toupper((unsigned char)**end)) : NULL;
    if (unit) {
        const int shift = 10 * (int)(unit - units + 1);
        if (*bytes > INT64_MAX >> shift)
            return false;
        *bytes <<= shift;
        ++*end;
    }
    return true;
}

static bool add_size(int64_t size, int64_t *sizes, int *count) {
    if (*count == MOST_SIZES)
        return false;
    sizes[(*count)++] = size;
    return true;
}

/* One item of a list: `8`, `8:1M` (doubling) or `8:1M:x4`. The last size is always one of them. */
static bool parse_range(const char *text, int64_t *sizes, int *count) {
    int64_t first, last;
    long factor = 2;
    char *end;
    if (!parse_size(text, &first, &end))
        return false;
    last = first;
    if (*end == ':' && !parse_size(end + 1, &last, &end))
        return false;
    if (*end == ':' && end[1] == 'x')
        factor = strtol(end + 2, &end, 10);
    if (*end || factor < 2 || last < first || (first == 0 && last > 0))
        return false;
    while (first < last) {
        if (!add_size(first, sizes, count))
            return false;
        first = first > last / factor ? last : first * factor;
    }
    return add_size(last, sizes, count);
}

bool parse_sizes(const char *text, int64_t *sizes, int *count, char error[LINE_BYTES]) {
    char copy[LINE_BYTES];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *item = strtok(copy, ","); item; item = strtok(NULL, ","))
        if (!parse_range(item, sizes, count))
            return fail(error, "--sizes: '%s' is not a size or range such as 8, 64K, 8:1M or 8:1M:x4", item);
    if (*count == 0)
        return fail(error, "--sizes: no size given (for example 8:1M)");
    return true;
}
