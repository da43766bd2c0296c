/* A new communicator must differ from the one it was made of, and messages sent on one must not be received on the
 * other. */
#include "kit/separate_comm.h"

enum { TAG = 7 };

/* Returns the fault, or NULL. The new communicator has the same ranks in the same order, or fewer. */
static const char *compare(const struct call *call, MPI_Comm new_comm) {
    int relation = MPI_UNEQUAL, ranks = 0;
    if (MPI_Comm_compare(call->peers.members, new_comm, &relation) != MPI_SUCCESS ||
        MPI_Comm_size(new_comm, &ranks) != MPI_SUCCESS)
        return "MPI_Comm_compare or MPI_Comm_size fails for the new communicator";
    if (relation == MPI_IDENT)
        return "the new communicator is the old one";
    const bool right = relation == (ranks == call->peers.ranks ? MPI_CONGRUENT : MPI_UNEQUAL);
    return right ? NULL : "by MPI_Comm_compare the new communicator has other ranks than it was made of";
}

static int find_rank_in_old(const struct call *call, MPI_Comm new_comm, int rank, int *old) {
    MPI_Group ours, theirs;
    int code = MPI_Comm_group(new_comm, &ours);
    if (code)
        return code;
    code = MPI_Comm_group(call->peers.members, &theirs);
    if (!code) {
        code = MPI_Group_translate_ranks(ours, 1, &rank, theirs, old);
        MPI_Group_free(&theirs);
    }
    MPI_Group_free(&ours);
    return code;
}

/* A message that has arrived on the old communicator must not be visible on the new one. */
static int probe_both(const struct call *call, MPI_Comm new_comm, int from, int *heard) {
    int code = MPI_Probe(from, TAG, call->peers.members, MPI_STATUS_IGNORE);
    code = code ? code : MPI_Iprobe(MPI_ANY_SOURCE, TAG, new_comm, heard, MPI_STATUS_IGNORE);
    return code ? code : MPI_Recv(NULL, 0, MPI_BYTE, from, TAG, call->peers.members, MPI_STATUS_IGNORE);
}

/* From each even rank to the rank after it. */
static int exchange_probe(const struct call *call, MPI_Comm new_comm, int *heard) {
    int rank, ranks, other = 0;
    int code = MPI_Comm_rank(new_comm, &rank);
    code = code ? code : MPI_Comm_size(new_comm, &ranks);
    if (code || (rank ^ 1) >= ranks)
        return code;
    code = find_rank_in_old(call, new_comm, rank ^ 1, &other);
    if (code)
        return code;
    return rank % 2 ? probe_both(call, new_comm, other, heard) : MPI_Send(NULL, 0, MPI_BYTE, other, TAG, call->peers.members);
}

/* If both are the same, the old one must not be freed as the new one. */
int check_separate(struct call *call) {
    struct new_comm *new_comm = get_new_comm(call);
    int heard = 0;
    if (new_comm->comm == MPI_COMM_NULL)
        return MPI_SUCCESS;
    const char *const fault = compare(call, new_comm->comm);
    const int code = fault ? MPI_SUCCESS : exchange_probe(call, new_comm->comm, &heard);
    new_comm->fault = heard ? "a message sent on the old communicator can be received on the new one" : fault;
    if (fault)
        new_comm->comm = MPI_COMM_NULL;
    return code;
}
