/* calls.c: begins what the loop completes, and completes it; they return MPI error codes. */
#ifndef RANKBENCH_CALLS_H
#define RANKBENCH_CALLS_H

#include "base/op.h"

int begin_call(struct call *call);
int complete_call(struct call *call);

#endif
