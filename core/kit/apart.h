/* Whether a communicator that was made is another one than that it was made of. */
#ifndef RANKBENCH_APART_H
#define RANKBENCH_APART_H

#include "kit/new_comm.h"

/* Whether what was made is a communicator of its own; for `prove`. */
int look_apart(struct call *call);

#define MAKES_COMMUNICATOR PROCESS, .hooks.finish = finish_new_comm, .hooks.prove = look_apart, .hooks.after = free_new_comm

#endif
