/* How the loop begins a call that is not over when it returns, and how it completes it. */
#include "base/calls.h"

int begin_call(struct call *call) {
    if (call->form == NONBLOCKING)
        return call->initiate(call);
    return call->pending == 1 ? MPI_Start(call->requests) : MPI_Startall(call->pending, call->requests);
}

int complete_call(struct call *call) {
    if (call->pending == 1)
        return MPI_Wait(call->requests, MPI_STATUS_IGNORE);
    return MPI_Waitall(call->pending, call->requests, MPI_STATUSES_IGNORE);
}
