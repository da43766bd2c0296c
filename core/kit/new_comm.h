/* What operations of the kind "process" make: it is looked at and put away after every call, not timed. */
#ifndef RANKBENCH_NEW_COMM_H
#define RANKBENCH_NEW_COMM_H

#include "base/op.h"

/* What can be seen of a communicator or a window: all numbers of one type, so that there are no gaps between them. */
struct properties {
    int64_t ranks;
    int64_t rank;
    /* What MPI_Topo_test says. */
    int64_t topology;
    int64_t window_bytes;
};

/* What operations that make a communicator keep in `call->state`, or with what else they keep behind it. */
struct new_comm {
    MPI_Comm comm;
    /* Of whom it is made, where the call is reported so. */
    MPI_Group group;
    /* Of the communicator that the last call made, before it was freed. */
    struct properties observed;
    /* What the last checked call showed to be wrong about it; NULL: nothing. */
    const char *fault;
};

static inline struct new_comm *new_comm_of(const struct call *call) {
    return call->state;
}

/* Makes `call->state` of so many bytes, all 0 but what is here. */
int make_new_comm_state(struct call *call, size_t bytes);
int prepare_new_comm(struct call *call);
int prepare_group(struct call *call);
void finish_new_comm(struct call *call);
int free_new_comm(struct call *call);

int read_group(MPI_Group group, struct properties *observed);
void check_properties(const struct properties *observed, struct properties expected, struct mismatch *mismatch);
/* Whether it was a communicator of its own. */
bool is_separate(const struct call *call, struct mismatch *mismatch);
/* Whether all ranks were there in their order, with this topology. */
void check_topology(const struct call *call, int topology, struct mismatch *mismatch);
void check_new_comm(const struct call *call, struct mismatch *mismatch);

#define PROCESS .kind = KIND_PROCESS, .metric = METRIC_TIME, .timing.start = "window"

#endif
