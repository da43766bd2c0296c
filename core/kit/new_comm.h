/* Communicators and windows made by operations of the kind "process": they are inspected and freed after every call,
 * not timed. */
#ifndef RANKBENCH_NEW_COMM_H
#define RANKBENCH_NEW_COMM_H

#include "base/op.h"

/* Properties of a communicator or a window, in one type, so that there are no gaps. */
struct properties {
    int64_t ranks;
    int64_t rank;
    /* The result of MPI_Topo_test. */
    int64_t topology;
    int64_t window_bytes;
};

/* Stored in `call->state` by operations that make a communicator or a window, alone or as the first member. */
struct new_comm {
    MPI_Comm comm;
    MPI_Win window;
    /* The group it is made of, for calls that take one. */
    MPI_Group group;
    /* Properties of what the last call made, before it was freed. */
    struct properties observed;
    /* Whether it was freed within the call. */
    bool freed;
    /* Fault found by the last checked call; NULL: none. */
    const char *fault;
};

static inline struct new_comm *get_new_comm(const struct call *call) {
    return call->state;
}

/* Allocates `call->state`, of `bytes`. */
int make_new_comm_state(struct call *call, size_t bytes);
int prepare_new_comm(struct call *call);
int prepare_group(struct call *call);
void finish_new_comm(struct call *call);
int free_new_comm(struct call *call);

/* Frees a group unless it is a predefined one. */
void free_group(MPI_Group *group);
void check_properties(const struct properties *observed, struct properties expected, struct mismatch *mismatch);
/* Whether the new communicator was separate; otherwise stores the fault. */
bool is_separate(const struct call *call, struct mismatch *mismatch);
/* Checks the ranks, their order and the topology. */
void check_topology(const struct call *call, int topology, struct mismatch *mismatch);
void check_new_comm(const struct call *call, struct mismatch *mismatch);

#define PROCESS .kind = KIND_PROCESS, .metric = METRIC_TIME, .timing.start = "window"

#endif
