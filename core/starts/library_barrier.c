#include "base/op.h"
#include "base/tree.h"

static bool begin(struct stage *stage, int round) {
    (void)round;
    abort_on_error(MPI_Barrier(stage->team->comm), "MPI_Barrier");
    return true;
}

static const struct start library_barrier = {
    .name = "library-barrier",
    .help = "after the library's own barrier, as most benchmarks do; how ranks leave it differs from library to library",
    .lead = 2,
    .begin = begin,
};
REGISTER(start, library_barrier);
