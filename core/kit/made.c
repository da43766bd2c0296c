#include "kit/made.h"

#include <stdlib.h>

#include "base/allocation.h"

int keep_made(struct call *call, size_t bytes) {
    struct made *made = call->own = ask_memory(bytes);
    if (!made)
        return MPI_ERR_NO_MEM;
    made->comm = MPI_COMM_NULL;
    made->group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int prepare_made(struct call *call) {
    return keep_made(call, sizeof(struct made));
}

int prepare_group(struct call *call) {
    const int code = prepare_made(call);
    return code ? code : MPI_Comm_group(call->members, &made_by(call)->group);
}

void finish_made(struct call *call) {
    struct made *made = made_by(call);
    if (made && made->comm != MPI_COMM_NULL)
        MPI_Comm_free(&made->comm);
    if (made && made->group != MPI_GROUP_NULL)
        MPI_Group_free(&made->group);
    free(made);
    call->own = NULL;
}

int look_at_group(MPI_Group group, struct sight *seen) {
    int ranks = 0, rank = 0;
    int code = MPI_Group_size(group, &ranks);
    if (!code)
        code = MPI_Group_rank(group, &rank);
    *seen = (struct sight){.ranks = ranks, .rank = rank, .topology = MPI_UNDEFINED};
    return code;
}

static int look_at_comm(MPI_Comm comm, struct sight *seen) {
    int topology = MPI_UNDEFINED;
    MPI_Group group;
    int code = MPI_Comm_group(comm, &group);
    if (code)
        return code;
    code = look_at_group(group, seen);
    if (!code)
        code = MPI_Topo_test(comm, &topology);
    seen->topology = topology;
    return code ? code : MPI_Group_free(&group);
}

/* Where the call made nothing, nothing is seen. */
int free_made(struct call *call) {
    struct made *made = made_by(call);
    made->seen = (struct sight){0};
    if (made->comm == MPI_COMM_NULL)
        return MPI_SUCCESS;
    const int code = look_at_comm(made->comm, &made->seen);
    return code ? code : MPI_Comm_free(&made->comm);
}

void check_sight(const struct sight *seen, struct sight expected, struct mismatch *mismatch) {
    const unsigned char *const found = (const unsigned char *)seen, *const right = (const unsigned char *)&expected;
    for (size_t i = 0; i < sizeof expected; i++)
        if (found[i] != right[i] && mismatch->wrong_bytes++ == 0) {
            mismatch->offset = (long)i;
            mismatch->expected = right[i];
            mismatch->found = found[i];
        }
}

bool check_apart(const struct call *call, struct mismatch *mismatch) {
    mismatch->instead = made_by(call)->entangled;
    mismatch->wrong_bytes += mismatch->instead != NULL;
    return !mismatch->instead;
}

void check_topology(const struct call *call, int topology, struct mismatch *mismatch) {
    if (!check_apart(call, mismatch))
        return;
    const struct sight expected = {.ranks = call->ranks, .rank = call->rank, .topology = topology};
    check_sight(&made_by(call)->seen, expected, mismatch);
}

void check_made(const struct call *call, struct mismatch *mismatch) {
    check_topology(call, MPI_UNDEFINED, mismatch);
}
