/* Whether the requested combination is valid. */
#ifndef RANKBENCH_VALIDITY_H
#define RANKBENCH_VALIDITY_H

#include "verify/setting.h"

/* Notes why the case is invalid, if it is. */
void check_validity(const struct setting *setting);

#endif
