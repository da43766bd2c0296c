/* Rank 0 compares its clock with each other rank's in turn: the exchange with the smallest round trip decides, and half of
 * that round trip bounds the error (Cristian, 1989). It ends after 100 exchanges without a smaller one, as MPIPerf does. */
#include "op.h"
#include "tree.h"

enum { TAG_ASK = 7101, TAG_TELL, TAG_RESULT, PATIENCE = 100 };

static struct offset compare_with(const struct team *team, const struct source *source, int rank) {
    struct offset best = {.bound_ns = INT64_MAX};
    for (int idle = 0; idle < PATIENCE; idle++) {
        int64_t theirs;
        char more = 1;
        const int64_t before = source->read_ns();
        must(MPI_Send(&more, 1, MPI_CHAR, rank, TAG_ASK, team->comm), "MPI_Send");
        must(MPI_Recv(&theirs, sizeof theirs, MPI_BYTE, rank, TAG_TELL, team->comm, MPI_STATUS_IGNORE), "MPI_Recv");
        const int64_t after = source->read_ns();
        const int64_t bound = (after - before + 1) / 2;
        if (bound < best.bound_ns) {
            best = (struct offset){theirs - (before + after) / 2, bound};
            idle = 0;
        }
    }
    char more = 0;
    must(MPI_Send(&more, 1, MPI_CHAR, rank, TAG_ASK, team->comm), "MPI_Send");
    return best;
}

static void answer(const struct team *team, const struct source *source) {
    for (;;) {
        char more;
        must(MPI_Recv(&more, 1, MPI_CHAR, 0, TAG_ASK, team->comm, MPI_STATUS_IGNORE), "MPI_Recv");
        if (!more)
            return;
        const int64_t mine = source->read_ns();
        must(MPI_Send(&mine, sizeof mine, MPI_BYTE, 0, TAG_TELL, team->comm), "MPI_Send");
    }
}

static struct offset lead(const struct team *team, const struct source *source) {
    for (int rank = 1; rank < team->ranks; rank++) {
        bool shares;
        must(MPI_Recv(&shares, sizeof shares, MPI_BYTE, rank, TAG_TELL, team->comm, MPI_STATUS_IGNORE), "MPI_Recv");
        if (shares)
            continue;
        const struct offset theirs = compare_with(team, source, rank);
        must(MPI_Send(&theirs, sizeof theirs, MPI_BYTE, rank, TAG_RESULT, team->comm), "MPI_Send");
    }
    return (struct offset){0, 0};
}

static struct offset run(const struct team *team, const struct source *source, bool shares) {
    struct offset mine = {0, 0};
    if (team->rank == 0)
        return lead(team, source);
    must(MPI_Send(&shares, sizeof shares, MPI_BYTE, 0, TAG_TELL, team->comm), "MPI_Send");
    if (shares)
        return mine;
    answer(team, source);
    must(MPI_Recv(&mine, sizeof mine, MPI_BYTE, 0, TAG_RESULT, team->comm, MPI_STATUS_IGNORE), "MPI_Recv");
    return mine;
}

static const struct synchronisation linear = {
    .name = "linear",
    .help = "rank 0 with one rank after the other; ranks that share its clock are exact by nature",
    .run = run,
};
REGISTER(synchronisation, linear);
