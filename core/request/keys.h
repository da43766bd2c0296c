/* The keys of a case. Functions with an `error` return false with one line in it. */
#ifndef RANKBENCH_KEYS_H
#define RANKBENCH_KEYS_H

#include <stdbool.h>

#include "base/core.h"
#include "request/request.h"

/* Sets the defaults of a case. */
bool begin_request(struct request *request, const char *operation_name, char error[LINE_BYTES]);
/* Sets a key that all cases have, or a choice of the operation. */
bool set_key(struct request *request, const char *key, const char *value, char error[LINE_BYTES]);
bool check_operation(const struct request *request, char error[LINE_BYTES]);
bool check_request(const struct request *request, char error[LINE_BYTES]);
/* Whether two requests are for the same case. */
bool is_same_case(const struct request *first, const struct request *other);
/* Whether all cases have this key. */
bool is_field(const char *key);
bool has_choice(const struct operation *operation, const char *name);

#endif
