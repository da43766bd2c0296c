/* Values are drawn for each rank of the first communicator, with signs and exponents for which the sum depends on the
 * order. Long doubles are compared without their padding. */
#include "study/sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/core.h"
#include "base/steady.h"
#include "base/tree.h"
#include "output/stream.h"

enum { CALLS = 200, MOST_ELEMENTS = 16384, LARGE_CALLS = 20, FEW_CALLS = 5, SUM_NS = 100000000, EXPONENTS = 40 };
static const int sizes[] = {1, 125, MOST_ELEMENTS};

/* --- types --- */

static uint64_t draw(int rank, long element) {
    uint64_t x = ((uint64_t)rank << 40) + (uint64_t)element + 1;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static long double make_value(int rank, long element) {
    const uint64_t bits = draw(rank, element);
    const long double size = ldexpl((long double)(bits >> 11) + 1, (int)(bits % EXPONENTS) - EXPONENTS / 2 - 53);
    return bits >> 10 & 1 ? -size : size;
}

static void store_float(void *place, int rank, long element) {
    *(float *)place = (float)make_value(rank, element);
}

static void store_double(void *place, int rank, long element) {
    *(double *)place = (double)make_value(rank, element);
}

static void store_complex(void *place, int rank, long element) {
    const float parts[] = {(float)make_value(rank, 2 * element), (float)make_value(rank, 2 * element + 1)};
    memcpy(place, parts, sizeof parts);
}

static void store_long(void *place, int rank, long element) {
    *(long double *)place = make_value(rank, element);
}

static const struct type {
    const char *name;
    MPI_Datatype type;
    /* Bytes of an element, and those that hold its value. */
    size_t bytes, used;
    void (*store)(void *place, int rank, long element);
} types[] = {
    {"float", MPI_FLOAT, sizeof(float), sizeof(float), store_float},
    {"double", MPI_DOUBLE, sizeof(double), sizeof(double), store_double},
    {"float complex", MPI_C_FLOAT_COMPLEX, 2 * sizeof(float), 2 * sizeof(float), store_complex},
    {"long double", MPI_LONG_DOUBLE, sizeof(long double), LDBL_MANT_DIG == 64 ? 10 : sizeof(long double), store_long},
};

/* --- operations --- */

struct sum {
    const struct type *type;
    int elements, ranks;
    MPI_Comm comm;
    const unsigned char *from;
    unsigned char *into;
};

static int allreduce(const struct sum *sum) {
    return MPI_Allreduce(sum->from, sum->into, sum->elements, sum->type->type, MPI_SUM, sum->comm);
}

static int reduce(const struct sum *sum) {
    return MPI_Reduce(sum->from, sum->into, sum->elements, sum->type->type, MPI_SUM, 0, sum->comm);
}

static int reduce_scatter_block(const struct sum *sum) {
    return MPI_Reduce_scatter_block(sum->from, sum->into, sum->elements / sum->ranks, sum->type->type, MPI_SUM, sum->comm);
}

static int scan(const struct sum *sum) {
    return MPI_Scan(sum->from, sum->into, sum->elements, sum->type->type, MPI_SUM, sum->comm);
}

/* In another order of the ranks a scan has another meaning. */
static const struct operation_of_sums {
    const char *name;
    int (*run)(const struct sum *sum);
    bool equal_on_all, by_blocks, ordered;
} operations[] = {
    {"allreduce", allreduce, true, false, false},
    {"reduce", reduce, false, false, false},
    {"reduce_scatter_block", reduce_scatter_block, false, true, false},
    {"scan", scan, false, false, true},
};

/* --- comparison --- */

/* Of one rank, and merged over all: the least and the largest hash of results, their sum with the ranks, whether all
 * calls had the same. */
struct bits {
    uint64_t least, most, all;
    int32_t differs, lacks;
};

static void merge_bits(void *into, const void *from, int bytes) {
    (void)bytes;
    struct bits *local = into;
    const struct bits *theirs = from;
    local->least = theirs->least < local->least ? theirs->least : local->least;
    local->most = theirs->most > local->most ? theirs->most : local->most;
    local->all += theirs->all;
    local->differs |= theirs->differs;
    local->lacks |= theirs->lacks;
}

static uint64_t hash_result(const struct sum *sum, int elements) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int i = 0; i < elements; i++)
        for (size_t k = 0; k < sum->type->used; k++)
            hash = (hash ^ sum->into[(size_t)i * sum->type->bytes + k]) * UINT64_C(1099511628211);
    return hash;
}

/* Where ranks share CPUs a call can take milliseconds: rank 0 decides after a few calls how many there are in all. */
static int count_calls(const struct world *world, const struct sum *sum, int64_t began_ns) {
    const int64_t each_ns = (read_steady_ns() - began_ns) / FEW_CALLS + 1;
    const int most = sum->elements == MOST_ELEMENTS ? LARGE_CALLS : CALLS;
    int32_t calls = SUM_NS / each_ns < most ? (int32_t)(SUM_NS / each_ns) : most;
    tree_broadcast(&world->all, &calls, sizeof calls);
    return calls;
}

/* Calls with the same data; only the root has a result of a reduce. */
static struct bits sum_up(const struct world *world, const struct operation_of_sums *operation, const struct sum *sum) {
    const int elements = operation->by_blocks ? sum->elements / sum->ranks : sum->elements;
    const int64_t began_ns = read_steady_ns();
    struct bits bits = {.least = UINT64_MAX};
    uint64_t first = 0;
    int rank = 0, calls = FEW_CALLS;
    MPI_Comm_rank(sum->comm, &rank);
    for (int call = 0; call < calls && !bits.lacks; call++) {
        if (call == FEW_CALLS - 1)
            calls = count_calls(world, sum, began_ns);
        memset(sum->into, 0, (size_t)elements * sum->type->bytes);
        const int code = operation->run(sum);
        const uint64_t hash = hash_result(sum, elements);
        bits.lacks = code == CALL_MISSING;
        abort_on_error(bits.lacks ? MPI_SUCCESS : code, operation->name);
        first = call == 0 ? hash : first;
        bits.differs |= hash != first;
    }
    if (operation->run == reduce && rank != 0)
        return bits;
    bits.least = bits.most = first;
    bits.all = (first ^ (uint64_t)(operation->equal_on_all ? 0 : rank)) * UINT64_C(0xbf58476d1ce4e5b9);
    return bits;
}

static struct bits compare_sums(const struct world *world, const struct operation_of_sums *operation, const struct sum *sum) {
    struct bits bits = sum_up(world, operation, sum);
    tree_combine(&world->all, &bits, sizeof bits, merge_bits);
    tree_broadcast(&world->all, &bits, sizeof bits);
    return bits;
}

static void write_sums(FILE *stream, const struct operation_of_sums *operation, const struct sum *sum, const struct bits *bits,
                       const struct bits *reversed) {
    fprintf(stream, "{\"record\":\"sums\",\"operation\":\"%s\",\"type\":\"%s\",\"elements\":%d", operation->name, sum->type->name,
            sum->elements);
    write_switch(stream, "lacking", bits->lacks);
    write_switch(stream, "on_ranks", !operation->equal_on_all || bits->least == bits->most);
    write_switch(stream, "from_call_to_call", !bits->differs);
    write_switch(stream, "in_reverse", operation->ordered || reversed->all == bits->all);
    fprintf(stream, ",\"digest\":\"%016llx\"", (unsigned long long)bits->all);
    end_record(stream);
}

static int study_one(const struct world *world, const struct operation_of_sums *operation, struct sum *sum, MPI_Comm reversed,
                     FILE *stream) {
    sum->comm = world->all.members;
    const struct bits bits = compare_sums(world, operation, sum);
    sum->comm = reversed;
    const struct bits other = bits.lacks ? bits : compare_sums(world, operation, sum);
    if (stream)
        write_sums(stream, operation, sum, &bits, &other);
    return bits.least != bits.most && operation->equal_on_all ? EXIT_DATA : EXIT_SUCCESS;
}

/* Vectors that are reduced by blocks have as many elements as fit all ranks. */
static int count_elements(const struct operation_of_sums *operation, int size, int ranks) {
    return operation->by_blocks ? (size / ranks > 0 ? size / ranks : 1) * ranks : size;
}

int study_sums(const struct world *world, FILE *stream) {
    const struct team *team = &world->all;
    const size_t room = ((size_t)MOST_ELEMENTS + (size_t)team->ranks) * sizeof(long double);
    unsigned char *const from = obtain_memory(room), *const into = obtain_memory(room);
    MPI_Comm reversed;
    int exit_code = EXIT_SUCCESS;
    abort_on_error(MPI_Comm_split(team->members, 0, -team->rank, &reversed), "MPI_Comm_split");
    abort_on_error(MPI_Comm_set_errhandler(reversed, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    for (int i = 0; i < LENGTH(operations) * LENGTH(types) * LENGTH(sizes); i++) {
        const struct operation_of_sums *operation = &operations[i / (LENGTH(types) * LENGTH(sizes))];
        struct sum sum = {.type = &types[i / LENGTH(sizes) % LENGTH(types)], .ranks = team->ranks, .from = from, .into = into};
        sum.elements = count_elements(operation, sizes[i % LENGTH(sizes)], team->ranks);
        memset(from, 0, room);
        for (int element = 0; element < sum.elements; element++)
            sum.type->store(from + (size_t)element * sum.type->bytes, team->rank, element);
        const int code = study_one(world, operation, &sum, reversed, stream);
        exit_code = exit_code ? exit_code : code;
    }
    MPI_Comm_free(&reversed);
    free(from);
    free(into);
    return exit_code;
}
