#include "base/op.h"
#include "kit/data.h"

struct particle {
    double position;
    int kind;
    char name[4];
    double not_sent;
};
enum { PAYLOAD = 16 };

static long find_extent(long bytes) {
    return bytes / PAYLOAD * (long)sizeof(struct particle);
}

static int make_element_type(MPI_Datatype *element_type) {
    const int lengths[] = {1, 1, 4};
    const MPI_Aint places[] = {offsetof(struct particle, position), offsetof(struct particle, kind),
                               offsetof(struct particle, name)};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    MPI_Datatype spread;
    const int code = MPI_Type_create_struct(3, lengths, places, types, &spread);
    return code ? code : resize_type(spread, sizeof(struct particle), element_type);
}

static int make(long bytes, MPI_Datatype *type) {
    MPI_Datatype element_type;
    int code = make_element_type(&element_type);
    if (code)
        return code;
    code = MPI_Type_contiguous((int)(bytes / PAYLOAD), element_type, type);
    MPI_Type_free(&element_type);
    return code;
}

static long find_place(long position, long bytes) {
    (void)bytes;
    return position / PAYLOAD * (long)sizeof(struct particle) + position % PAYLOAD;
}

static const struct datatype structure = {
    .name = "struct",
    .help = "records of a double, an int and four chars, with a member that is not sent",
    .bytes = PAYLOAD,
    .make = make,
    .find_extent = find_extent,
    .find_place = find_place,
};
REGISTER(datatype, structure);
