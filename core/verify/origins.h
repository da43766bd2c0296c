/* One-sided operations of several origins on one number: exclusive locks that exclude, and operations that are atomic. */
#ifndef RANKBENCH_ORIGINS_H
#define RANKBENCH_ORIGINS_H

#include "verify/setting.h"

/* Called by all ranks of the team; checks nothing if all of them did so before in this launch. */
void check_origins(const struct setting *setting);

#endif
