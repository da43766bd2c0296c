/* How the loop starts and completes nonblocking and persistent calls. */
#include "kit/calls.h"

#include <stdlib.h>

#include "kit/receipts.h"

void free_state(struct call *call) {
    free(call->state);
    call->state = NULL;
}

int begin_call(struct call *call) {
    if (call->form == NONBLOCKING)
        return call->initiate(call);
    return call->window.pending == 1 ? MPI_Start(call->window.requests)
                                     : MPI_Startall(call->window.pending, call->window.requests);
}

MPI_Status *find_statuses(struct call *call) {
    return call->window.receipts ? next_receipts(call, call->window.pending) : NULL;
}

int test_call(struct call *call, MPI_Status *statuses, int *over) {
    if (call->window.pending == 1)
        return MPI_Test(call->window.requests, over, statuses ? statuses : MPI_STATUS_IGNORE);
    return MPI_Testall(call->window.pending, call->window.requests, over, statuses ? statuses : MPI_STATUSES_IGNORE);
}

int wait_for_call(struct call *call, MPI_Status *statuses) {
    if (call->window.pending == 1)
        return MPI_Wait(call->window.requests, statuses ? statuses : MPI_STATUS_IGNORE);
    return MPI_Waitall(call->window.pending, call->window.requests, statuses ? statuses : MPI_STATUSES_IGNORE);
}

int complete_call(struct call *call) {
    return wait_for_call(call, find_statuses(call));
}
