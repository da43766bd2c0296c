/* Data that can be predicted byte by byte, and the checks of what arrived. */
#include <string.h>

#include "choices.h"
#include "op.h"

long amount_bytes(struct amount amount, long size_bytes, int ranks, int messages) {
    return size_bytes * (amount.own + (long)amount.each * ranks) * (amount.per_message ? messages : 1);
}

int resized(MPI_Datatype spread, long extent, MPI_Datatype *type) {
    const int code = MPI_Type_create_resized(spread, 0, extent, type);
    MPI_Type_free(&spread);
    return code;
}

enum { WORD_BYTES = sizeof(uint32_t), BLOCK_BYTES = 1024 * WORD_BYTES };

/* Mixes position and stream so that a shifted, swapped or stale block differs in most of its bytes. */
static uint32_t word(long position, unsigned stream) {
    const uint64_t number = (uint64_t)position / WORD_BYTES;
    uint32_t x = (uint32_t)number * 2654435761u + (uint32_t)(number >> 32) * 3628273133u + stream * 2246822519u + 374761393u;
    x ^= x >> 15;
    x *= 3266489917u;
    return x ^ x >> 16;
}

/* From a position on that is one of a word. */
static void fill_from(unsigned char *data, long from, long bytes, unsigned stream) {
    const long rest = bytes % WORD_BYTES, whole = bytes - rest;
    for (long i = 0; i < whole; i += WORD_BYTES)
        memcpy(data + i, &(uint32_t){word(from + i, stream)}, WORD_BYTES);
    memcpy(data + whole, &(uint32_t){word(from + whole, stream)}, (size_t)rest);
}

void fill_bytes(unsigned char *data, long bytes, unsigned stream) {
    fill_from(data, 0, bytes, stream);
}

static unsigned char pattern(long position, unsigned stream) {
    unsigned char bytes[WORD_BYTES];
    fill_from(bytes, position - position % WORD_BYTES, WORD_BYTES, stream);
    return bytes[position % WORD_BYTES];
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

/* Nearly all that is looked at is right. */
static void compare_all(const unsigned char *found, const unsigned char *expected, long bytes, long offset,
                        struct mismatch *mismatch) {
    if (memcmp(found, expected, (size_t)bytes) != 0)
        for (long i = 0; i < bytes; i++)
            compare(found[i], expected[i], offset + i, mismatch);
}

static long least_of(long a, long b) {
    return a < b ? a : b;
}

void check_bytes_from(const unsigned char *data, long from, long bytes, unsigned stream, long base, struct mismatch *mismatch) {
    unsigned char expected[BLOCK_BYTES];
    for (long at = 0; at < bytes; at += BLOCK_BYTES) {
        const long some = least_of(BLOCK_BYTES, bytes - at);
        fill_from(expected, from + at, some, stream);
        compare_all(data + at, expected, some, base + at, mismatch);
    }
}

void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch) {
    check_bytes_from(data, 0, bytes, stream, base, mismatch);
}

/* --- reductions --- */

/* Terms are small, so that their sums over a million ranks, and their products, are exact in a float; few terms are 2 in a
 * product, and few are false in a logical `and`. */
static int sum_term(int x) { return x & 15; }
static int product_term(int x) { return x % 64 ? 1 : 2; }
static int plain_term(int x) { return x; }
static int rarely_false(int x) { return x % 8 != 0; }
static int rarely_true(int x) { return x % 8 == 0; }
static int truth(int x) { return x & 1; }
static int all_but_one_bit(int x) { return 0xff ^ (1 << x % 8); }
static int one_bit(int x) { return 1 << x % 8; }

static double add(double a, double b) { return a + b; }
static double multiply(double a, double b) { return a * b; }
static double least(double a, double b) { return a < b ? a : b; }
static double largest(double a, double b) { return a > b ? a : b; }
static double both(double a, double b) { return a != 0 && b != 0; }
static double either(double a, double b) { return a != 0 || b != 0; }
static double one_of(double a, double b) { return (a != 0) != (b != 0); }
static double bits_both(double a, double b) { return (int)a & (int)b; }
static double bits_either(double a, double b) { return (int)a | (int)b; }
static double bits_one(double a, double b) { return (int)a ^ (int)b; }

static const struct reduction {
    int (*term)(int x);
    double (*merge)(double a, double b);
    bool whole;
} reductions[] = {
    {sum_term, add, false},         {product_term, multiply, false}, {plain_term, least, false},
    {plain_term, largest, false},   {rarely_false, both, true},      {rarely_true, either, true},
    {truth, one_of, true},          {all_but_one_bit, bits_both, true}, {one_bit, bits_either, true},
    {plain_term, bits_one, true},   {sum_term, add, false},
};

static void add_up(void *in, void *inout, int *count, MPI_Datatype *type) {
    for (int i = 0; i < *count; i++)
        if (*type == MPI_FLOAT)
            ((float *)inout)[i] += ((float *)in)[i];
        else if (*type == MPI_DOUBLE)
            ((double *)inout)[i] += ((double *)in)[i];
        else
            ((int *)inout)[i] += ((int *)in)[i];
}

int make_reduction(int64_t which, MPI_Op *reduction) {
    const MPI_Op known[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    *reduction = which == REDUCTION_USER ? MPI_OP_NULL : known[which];
    return which == REDUCTION_USER ? MPI_Op_create(add_up, 1, reduction) : MPI_SUCCESS;
}

void free_reduction(int64_t which, MPI_Op *reduction) {
    if (which == REDUCTION_USER && *reduction != MPI_OP_NULL)
        MPI_Op_free(reduction);
}

bool reduces_whole_numbers_only(int64_t which) {
    return reductions[which].whole;
}

static const struct reduction *reduction_of(const struct call *call) {
    return &reductions[chosen(call, &reduction_choice)];
}

/* Terms repeat every PERIOD elements, so that expected results are few. Each rank has its own: one rank counted twice in
 * place of another is seen. */
enum { PERIOD = 251 };

static int term(const struct call *call, int rank, long position) {
    return reduction_of(call)->term(pattern(position % PERIOD, call->seed + (unsigned)rank));
}

static void put_number(const struct datatype *datatype, unsigned char *place, double value) {
    if (datatype->basic == MPI_FLOAT)
        memcpy(place, &(float){(float)value}, sizeof(float));
    else if (datatype->basic == MPI_DOUBLE)
        memcpy(place, &value, sizeof(double));
    else
        memcpy(place, &(int){(int)value}, sizeof(int));
}

void fill_terms(const struct call *call, unsigned char *data, long elements, long from, int rank) {
    const int width = call->datatype->bytes;
    for (long i = 0; i < least_of(PERIOD, elements); i++)
        put_number(call->datatype, data + i * width, term(call, rank, from + i));
    for (long i = PERIOD; i < elements; i += PERIOD)
        memcpy(data + i * width, data, (size_t)(least_of(PERIOD, elements - i) * width));
}

static double reduced(const struct call *call, long position, int first_rank, int last_rank) {
    double value = term(call, first_rank, position);
    for (int rank = first_rank + 1; rank <= last_rank; rank++)
        value = reduction_of(call)->merge(value, term(call, rank, position));
    return value;
}

void check_reduced(const struct call *call, const unsigned char *data, long elements, long from, int first_rank, int last_rank,
                   struct mismatch *mismatch) {
    const int width = call->datatype->bytes;
    const long base = data - call->receive;
    unsigned char expected[PERIOD * sizeof(double)];
    for (int phase = 0; phase < PERIOD; phase++)
        put_number(call->datatype, expected + phase * width, reduced(call, from + phase, first_rank, last_rank));
    for (long i = 0; i < elements; i += PERIOD)
        compare_all(data + i * width, expected, least_of(PERIOD, elements - i) * width, base + i * width, mismatch);
}

void fill_addends(struct call *call) {
    fill_terms(call, call->send, call->send_bytes / call->datatype->bytes, 0, call->rank);
}

void check_sums(const struct call *call, struct mismatch *mismatch) {
    check_reduced(call, call->receive, call->receive_bytes / call->datatype->bytes, 0, 0, call->ranks - 1, mismatch);
}
