#include "base/op.h"

static int make(long bytes, MPI_Datatype *type) {
    return MPI_Type_contiguous((int)(bytes / (long)sizeof(double)), MPI_DOUBLE, type);
}

static long extent(long bytes) {
    return bytes;
}

static long place(long position, long bytes) {
    (void)bytes;
    return position;
}

static const struct datatype contiguous = {
    .name = "contiguous",
    .help = "contiguous doubles, as one derived type",
    .bytes = sizeof(double),
    .make = make,
    .extent = extent,
    .place = place,
};
REGISTER(datatype, contiguous);
