#include <math.h>

#include "base/op.h"

static int64_t read_ns(void) {
    return llrint(MPI_Wtime() * 1e9);
}

static const struct source mpi_wtime = {
    .name = "MPI_Wtime",
    .help = "the library's clock; its source and its origin differ between libraries",
    .read_ns = read_ns,
};
REGISTER(source, mpi_wtime);
