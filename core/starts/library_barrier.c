#include "base/op.h"
#include "base/tree.h"

static bool begin(struct stage *stage, int round) {
    (void)round;
    abort_on_error(MPI_Barrier(stage->team->comm), "MPI_Barrier");
    return true;
}

static const struct start library_barrier = {
    .name = "library-barrier",
    .help = "after the library's MPI_Barrier, as in most benchmarks; the exit times of ranks differ between libraries",
    .lead = 2,
    .begin = begin,
};
REGISTER(start, library_barrier);
