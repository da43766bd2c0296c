/* How the loop begins a call that is not over when it returns, and how it completes it. */
#include "base/calls.h"

int begin_call(struct call *call) {
    if (call->form == NONBLOCKING)
        return call->initiate(call);
    return call->window.pending == 1 ? MPI_Start(call->window.requests)
                                     : MPI_Startall(call->window.pending, call->window.requests);
}

int complete_call(struct call *call) {
    if (call->window.pending == 1)
        return MPI_Wait(call->window.requests, MPI_STATUS_IGNORE);
    return MPI_Waitall(call->window.pending, call->window.requests, MPI_STATUSES_IGNORE);
}
