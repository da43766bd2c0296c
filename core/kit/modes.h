/* Shared by point-to-point operations: send modes, and neighbours. */
#ifndef RANKBENCH_MODES_H
#define RANKBENCH_MODES_H

#include "base/op.h"

enum { STANDARD, SYNCHRONOUS, BUFFERED, READY };

/* The calls of one send mode. */
struct mode {
    int (*send)(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
    int (*isend)(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
    int (*send_init)(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request);
};

extern const struct choice mode_choice, send_buffers_choice;
extern const struct mode modes[];

/* Whether all messages of a call leave from one buffer. */
bool shares_send_buffer(const struct call *call);
/* Why the send mode is invalid if this rank can have so many messages in flight; NULL: it is valid. */
const char *refuse_mode(const struct call *call, int messages);

/* Attaches a buffer for so many messages if the mode is `buffered`; `buffer` is NULL otherwise. */
int attach_buffer(const struct call *call, int messages, void **buffer);
void detach_buffer(void *buffer);

/* Frees persistent requests; some may not exist. */
void free_requests(MPI_Request *requests, int count);

/* The other rank of an operation between two ranks. */
static inline int find_other(const struct call *call) {
    return call->peers.rank == call->peers.first ? call->peers.second : call->peers.first;
}

/* Neighbours in the ring of all ranks. */
static inline int find_right(const struct call *call) {
    return call->peers.rank + 1 < call->peers.ranks ? call->peers.rank + 1 : 0;
}

static inline int find_left(const struct call *call) {
    return (call->peers.rank > 0 ? call->peers.rank : call->peers.ranks) - 1;
}

#define POINT_TO_POINT .kind = KIND_POINT_TO_POINT, .data.sized = true

#endif
