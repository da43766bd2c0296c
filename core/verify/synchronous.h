/* Synchronous sends, which may not complete before their receive has begun. */
#ifndef RANKBENCH_SYNCHRONOUS_H
#define RANKBENCH_SYNCHRONOUS_H

#include "verify/setting.h"

/* Whether the case sends in synchronous mode. */
bool sends_synchronously(const struct setting *setting);
/* Called by all ranks of the team. */
void check_synchronous(const struct setting *setting);
/* Fewer sends, with the clocks as they are, between stages. */
void check_synchronous_again(const struct setting *setting);

#endif
