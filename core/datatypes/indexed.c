#include <stdlib.h>

#include "base/allocation.h"
#include "base/op.h"
#include "kit/data.h"

/* | 1 double | gap | 3 doubles | gap | ... */
enum { ITEM = sizeof(double), FEW = 1, MANY = 3, MANY_AT = FEW + 1, PERIOD = FEW + MANY + 2, PAYLOAD = (FEW + MANY) * ITEM };

static long find_extent(long bytes) {
    return bytes / PAYLOAD * PERIOD * ITEM;
}

static int make(long bytes, MPI_Datatype *type) {
    const int blocks = 2 * (int)(bytes / PAYLOAD);
    int *lengths = obtain_memory(2 * sizeof *lengths * (size_t)blocks), *places = lengths + blocks;
    MPI_Datatype spread;
    for (int i = 0; i < blocks; i++) {
        lengths[i] = i % 2 ? MANY : FEW;
        places[i] = i / 2 * PERIOD + (i % 2 ? MANY_AT : 0);
    }
    const int code = MPI_Type_indexed(blocks, lengths, places, MPI_DOUBLE, &spread);
    free(lengths);
    return code ? code : resize_type(spread, find_extent(bytes), type);
}

static long find_place(long position, long bytes) {
    (void)bytes;
    const long within = position % PAYLOAD;
    return position / PAYLOAD * PERIOD * ITEM + within + (within < FEW * ITEM ? 0 : ITEM);
}

static const struct datatype indexed = {
    .name = "indexed",
    .help = "alternating blocks of one and of three doubles, with gaps between them",
    .bytes = PAYLOAD,
    .make = make,
    .find_extent = find_extent,
    .find_place = find_place,
};
REGISTER(datatype, indexed);
