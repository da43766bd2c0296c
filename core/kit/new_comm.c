#include "kit/new_comm.h"

#include "base/allocation.h"
#include "kit/calls.h"

int make_new_comm_state(struct call *call, size_t bytes) {
    struct new_comm *new_comm = call->state = try_memory(bytes);
    if (!new_comm)
        return MPI_ERR_NO_MEM;
    new_comm->comm = MPI_COMM_NULL;
    new_comm->window = MPI_WIN_NULL;
    new_comm->group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

int prepare_new_comm(struct call *call) {
    return make_new_comm_state(call, sizeof(struct new_comm));
}

int prepare_group(struct call *call) {
    const int code = prepare_new_comm(call);
    return code ? code : MPI_Comm_group(call->peers.members, &get_new_comm(call)->group);
}

void free_group(MPI_Group *group) {
    if (*group != MPI_GROUP_NULL && *group != MPI_GROUP_EMPTY)
        MPI_Group_free(group);
}

void finish_new_comm(struct call *call) {
    struct new_comm *new_comm = get_new_comm(call);
    if (new_comm && new_comm->comm != MPI_COMM_NULL)
        MPI_Comm_free(&new_comm->comm);
    if (new_comm && new_comm->window != MPI_WIN_NULL)
        MPI_Win_free(&new_comm->window);
    if (new_comm)
        free_group(&new_comm->group);
    free_state(call);
}

static int read_group(MPI_Group group, struct properties *observed) {
    int ranks = 0, rank = 0;
    int code = MPI_Group_size(group, &ranks);
    if (!code)
        code = MPI_Group_rank(group, &rank);
    *observed = (struct properties){.ranks = ranks, .rank = rank, .topology = MPI_UNDEFINED};
    return code;
}

static int read_comm(MPI_Comm comm, struct properties *observed) {
    int topology = MPI_UNDEFINED;
    MPI_Group group;
    int code = MPI_Comm_group(comm, &group);
    if (code)
        return code;
    code = read_group(group, observed);
    if (!code)
        code = MPI_Topo_test(comm, &topology);
    observed->topology = topology;
    return code ? code : MPI_Group_free(&group);
}

static int read_window(MPI_Win window, struct properties *observed) {
    MPI_Group group;
    MPI_Aint *bytes = NULL;
    int has_bytes = 0;
    int code = MPI_Win_get_group(window, &group);
    if (code)
        return code;
    code = read_group(group, observed);
    if (!code)
        code = MPI_Win_get_attr(window, MPI_WIN_SIZE, &bytes, &has_bytes);
    observed->window_bytes = has_bytes ? (int64_t)*bytes : -1;
    return code ? code : MPI_Group_free(&group);
}

/* All zero if the call made nothing. Freed within the call, it is not inspected. */
int free_new_comm(struct call *call) {
    struct new_comm *new_comm = get_new_comm(call);
    const bool is_window = new_comm->window != MPI_WIN_NULL, exists = is_window || new_comm->comm != MPI_COMM_NULL;
    const bool freed = new_comm->freed;
    int code = MPI_SUCCESS;
    new_comm->freed = call->frees && exists;
    if (!exists && freed)
        return MPI_SUCCESS;
    if (!call->frees) {
        new_comm->observed = (struct properties){0};
        code = is_window ? read_window(new_comm->window, &new_comm->observed)
               : exists  ? read_comm(new_comm->comm, &new_comm->observed)
                         : MPI_SUCCESS;
    }
    if (code || !exists)
        return code;
    return is_window ? MPI_Win_free(&new_comm->window) : MPI_Comm_free(&new_comm->comm);
}

void check_properties(const struct properties *observed, struct properties expected, struct mismatch *mismatch) {
    const unsigned char *const actual = (const unsigned char *)observed, *const right = (const unsigned char *)&expected;
    for (size_t i = 0; i < sizeof expected; i++)
        if (actual[i] != right[i] && mismatch->wrong_bytes++ == 0) {
            mismatch->offset = (long)i;
            mismatch->expected = right[i];
            mismatch->actual = actual[i];
        }
}

bool is_separate(const struct call *call, struct mismatch *mismatch) {
    mismatch->instead = get_new_comm(call)->fault;
    mismatch->wrong_bytes += mismatch->instead != NULL;
    return !mismatch->instead;
}

void check_topology(const struct call *call, int topology, struct mismatch *mismatch) {
    if (!is_separate(call, mismatch))
        return;
    const struct properties expected = {.ranks = call->peers.ranks, .rank = call->peers.rank, .topology = topology};
    check_properties(&get_new_comm(call)->observed, expected, mismatch);
}

void check_new_comm(const struct call *call, struct mismatch *mismatch) {
    check_topology(call, MPI_UNDEFINED, mismatch);
}
