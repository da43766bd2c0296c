/* Receives that complete in other ways than a case's own: tested, one of several, probed or matched. */
#ifndef RANKBENCH_RECEIVES_H
#define RANKBENCH_RECEIVES_H

#include "verify/setting.h"

/* Called by all ranks of the team. */
void check_receives(const struct setting *setting);

#endif
