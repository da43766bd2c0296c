#include "base/choices.h"
#include "kit/new_comm.h"
#include "kit/separate_comm.h"

enum { ONE, HALVES, OWN };

static const struct choice colour_choice = {
    .name = "colour",
    .help = "result of the split: one communicator, two halves, or one per rank",
    NAMES_OF("one", "halves", "own"),
};

static int find_colour(const struct call *call, int rank) {
    switch (read_choice(call, &colour_choice)) {
    case HALVES:
        return (int)(2LL * rank / call->peers.ranks);
    case OWN:
        return rank;
    default:
        return 0;
    }
}

static int split(struct call *call) {
    return MPI_Comm_split(call->peers.members, find_colour(call, call->peers.rank), call->peers.rank, &get_new_comm(call)->comm);
}

static int split_type(struct call *call) {
    return MPI_Comm_split_type(call->peers.members, MPI_COMM_TYPE_SHARED, call->peers.rank, MPI_INFO_NULL,
                               &get_new_comm(call)->comm);
}

static void check_split(const struct call *call, struct mismatch *mismatch) {
    struct properties expected = {.topology = MPI_UNDEFINED};
    if (!is_separate(call, mismatch))
        return;
    for (int rank = 0; rank < call->peers.ranks; rank++)
        if (find_colour(call, rank) == find_colour(call, call->peers.rank)) {
            expected.ranks++;
            expected.rank += rank < call->peers.rank;
        }
    check_properties(&get_new_comm(call)->observed, expected, mismatch);
}

/* Only the library knows which ranks share memory; the result must be possible. */
static void check_split_type(const struct call *call, struct mismatch *mismatch) {
    const struct properties *observed = &get_new_comm(call)->observed;
    const bool possible = observed->ranks >= 1 && observed->ranks <= call->peers.ranks && observed->rank >= 0 &&
                          observed->rank < observed->ranks && observed->rank <= call->peers.rank;
    if (is_separate(call, mismatch) && !possible)
        check_new_comm(call, mismatch);
}

static const struct operation comm_split = {
    .name = "comm_split",
    .help = "splits a communicator by colour",
    .standard = "MPI-4.1 7.4.2",
    MAKES_COMMUNICATOR,
    CHOICES(&colour_choice),
    .forms = {split},
    .hooks.prepare = prepare_new_comm,
    .hooks.check = check_split,
};
REGISTER(operation, comm_split);

static const struct operation comm_split_type = {
    .name = "comm_split_type",
    .help = "splits a communicator by shared memory",
    .standard = "MPI-4.1 7.4.2",
    MAKES_COMMUNICATOR,
    .forms = {split_type},
    .hooks.prepare = prepare_new_comm,
    .hooks.check = check_split_type,
};
REGISTER(operation, comm_split_type);
