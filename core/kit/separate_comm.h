/* Whether a communicator that was made is another one than that it was made of. */
#ifndef RANKBENCH_SEPARATE_COMM_H
#define RANKBENCH_SEPARATE_COMM_H

#include "kit/new_comm.h"

/* Whether what was made is a communicator of its own; for `prove`. */
int check_separate(struct call *call);

#define MAKES_COMMUNICATOR PROCESS, .hooks.finish = finish_new_comm, .hooks.prove = check_separate, .hooks.after = free_new_comm

#endif
