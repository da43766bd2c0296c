/* Whether the requested combination is valid. */
#ifndef RANKBENCH_VALIDITY_H
#define RANKBENCH_VALIDITY_H

#include "verify/setting.h"

/* Why the case is invalid, in one line that may be stored in `line`; NULL: it is valid. */
const char *why_invalid(const struct setting *setting, char line[LINE_BYTES / 2]);

#endif
