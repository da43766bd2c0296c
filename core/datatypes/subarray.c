#include "base/op.h"

/* Of a matrix of 16 columns, columns 4 to 11 of every row. */
enum { ITEM = sizeof(double), COLUMNS = 16, TAKEN = 8, FIRST = 4, PAYLOAD = TAKEN * ITEM, ROW = COLUMNS * ITEM };

static int make(long bytes, MPI_Datatype *type) {
    const int rows = (int)(bytes / PAYLOAD);
    const int sizes[] = {rows, COLUMNS}, part[] = {rows, TAKEN}, at[] = {0, FIRST};
    return MPI_Type_create_subarray(2, sizes, part, at, MPI_ORDER_C, MPI_DOUBLE, type);
}

static long find_extent(long bytes) {
    return bytes / PAYLOAD * ROW;
}

static long find_place(long position, long bytes) {
    (void)bytes;
    return position / PAYLOAD * ROW + FIRST * ITEM + position % PAYLOAD;
}

static const struct datatype subarray = {
    .name = "subarray",
    .help = "the middle half of the columns of a matrix of doubles",
    .bytes = PAYLOAD,
    .make = make,
    .find_extent = find_extent,
    .find_place = find_place,
};
REGISTER(datatype, subarray);
