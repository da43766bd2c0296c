/* Data that can be predicted byte by byte, and the checks of what arrived. */
#include <string.h>

#include "op.h"

long amount_bytes(struct amount amount, long size_bytes, int ranks) {
    return size_bytes * (amount.own + (long)amount.each * ranks);
}

/* Mixes position and stream so that a shifted, swapped or stale block differs in most of its bytes. */
static unsigned char pattern(long position, unsigned stream) {
    uint32_t x = (uint32_t)position * 2654435761u + stream * 2246822519u + 374761393u;
    x ^= x >> 15;
    x *= 3266489917u;
    return (unsigned char)(x >> 24);
}

void fill_bytes(unsigned char *data, long bytes, unsigned stream) {
    for (long i = 0; i < bytes; i++)
        data[i] = pattern(i, stream);
}

static void compare(unsigned char found, unsigned char expected, long offset, struct mismatch *mismatch) {
    if (found == expected)
        return;
    if (mismatch->wrong_bytes++ == 0) {
        mismatch->offset = offset;
        mismatch->expected = expected;
        mismatch->found = found;
    }
}

void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch) {
    for (long i = 0; i < bytes; i++)
        compare(data[i], pattern(i, stream), base + i, mismatch);
}

/* Addends repeat every PERIOD elements, so that the expected sums are few, and are below 16, so that the sum over a million
 * ranks is exact in a float. Each rank has its own: one rank counted twice in place of another is seen. */
enum { PERIOD = 251, LARGEST_ADDEND = 15 };

static int addend(int rank, long position, unsigned seed) {
    return pattern(position % PERIOD, seed + (unsigned)rank) & LARGEST_ADDEND;
}

static void put_number(const struct datatype *datatype, unsigned char *place, double value) {
    if (datatype->type == MPI_FLOAT)
        memcpy(place, &(float){(float)value}, sizeof(float));
    else if (datatype->type == MPI_DOUBLE)
        memcpy(place, &value, sizeof(double));
    else
        memcpy(place, &(int){(int)value}, sizeof(int));
}

void fill_addends(struct call *call) {
    for (int i = 0; i < call->count; i++)
        put_number(call->datatype, call->send + (long)i * call->datatype->bytes, addend(call->rank, i, call->seed));
}

void check_sums(const struct call *call, struct mismatch *mismatch) {
    const int width = call->datatype->bytes;
    unsigned char expected[PERIOD][sizeof(double)];
    for (int phase = 0; phase < PERIOD; phase++) {
        double sum = 0;
        for (int rank = 0; rank < call->ranks; rank++)
            sum += addend(rank, phase, call->seed);
        put_number(call->datatype, expected[phase], sum);
    }
    for (int i = 0; i < call->count; i++)
        for (int byte = 0; byte < width; byte++)
            compare(call->receive[(long)i * width + byte], expected[i % PERIOD][byte], (long)i * width + byte, mismatch);
}
