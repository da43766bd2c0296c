/* Whether a new communicator is separate from the one it was made of. */
#ifndef RANKBENCH_SEPARATE_COMM_H
#define RANKBENCH_SEPARATE_COMM_H

#include "kit/new_comm.h"

/* Stores the fault in the state of the call; for the hook `prove`. */
int check_separate(struct call *call);

#define MAKES_COMMUNICATOR PROCESS, .hooks.finish = finish_new_comm, .hooks.prove = check_separate, .hooks.after = free_new_comm

#endif
