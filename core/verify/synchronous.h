/* Synchronous sends, which may not end before their receive has begun. */
#ifndef RANKBENCH_SYNCHRONOUS_H
#define RANKBENCH_SYNCHRONOUS_H

#include "verify/setting.h"

/* Whether messages of the case are sent so. */
bool sends_synchronously(const struct setting *setting);
/* Called by all ranks of the team. */
void check_synchronous(const struct setting *setting);

#endif
