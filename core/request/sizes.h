/* Lists and ranges of message sizes. */
#ifndef RANKBENCH_SIZES_H
#define RANKBENCH_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core.h"

enum { MOST_SIZES = 1024 };

/* Adds the sizes of a list such as `8,64K,8:1M:x4` to `sizes`, which has room for MOST_SIZES. */
bool parse_sizes(const char *text, int64_t *sizes, int *count, char error[LINE_BYTES]);

#endif
