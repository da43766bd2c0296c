/* Starts and completes nonblocking and persistent calls; all return MPI error codes. */
#ifndef RANKBENCH_CALLS_H
#define RANKBENCH_CALLS_H

#include "base/op.h"

/* Frees the data of an operation; for the hook `finish`. */
void free_state(struct call *call);
int begin_call(struct call *call);
int complete_call(struct call *call);

/* The same in steps, for calls that are tested in between. `find_statuses` returns where this call writes its statuses;
 * NULL: they are not read. After completion the requests have none any more, and `statuses` must be NULL. */
MPI_Status *find_statuses(struct call *call);
int test_call(struct call *call, MPI_Status *statuses, int *over);
int wait_for_call(struct call *call, MPI_Status *statuses);

#endif
