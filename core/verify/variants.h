/* Checked calls that differ in one respect from those of the case: in their numbers, in place, with another root, another
 * count or another communicator, with a late rank, or one directly after the other.
 *
 * A fault that only they show is a fault of the library, although the case does not call it so. */
#ifndef RANKBENCH_VARIANTS_H
#define RANKBENCH_VARIANTS_H

#include "verify/setting.h"

/* Called by all ranks of the team. `all`: also those that take longer, and a reduction that is not commutative. */
void check_variants(const struct setting *setting, bool all);
/* Frees the communicators made for them. */
void free_variants(void);

#endif
