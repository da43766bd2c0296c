#include "base/op.h"
#include "kit/data.h"

/* | double | gap | double | gap | ... */
enum { ITEM = sizeof(double), STRIDE = 2 };

static long find_extent(long bytes) {
    return STRIDE * bytes;
}

static int make(long bytes, MPI_Datatype *type) {
    MPI_Datatype spread;
    const int code = MPI_Type_vector((int)(bytes / ITEM), 1, STRIDE, MPI_DOUBLE, &spread);
    return code ? code : resize_type(spread, find_extent(bytes), type);
}

static long find_place(long position, long bytes) {
    (void)bytes;
    return position / ITEM * ITEM * STRIDE + position % ITEM;
}

static const struct datatype vector = {
    .name = "vector",
    .help = "every other double, like a column of a matrix",
    .bytes = ITEM,
    .make = make,
    .find_extent = find_extent,
    .find_place = find_place,
};
REGISTER(datatype, vector);
