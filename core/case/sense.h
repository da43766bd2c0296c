/* What is asked of a case may make no sense. */
#ifndef RANKBENCH_SENSE_H
#define RANKBENCH_SENSE_H

#include "verify/setting.h"

/* Why not; NULL: it does. The answer may stand in `line`. */
const char *senseless(const struct setting *setting, char line[LINE_BYTES / 2]);

#endif
