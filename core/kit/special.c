#include "kit/special.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/choices.h"
#include "base/core.h"
#include "base/float_mode.h"

/* Operands of one element: one rank has the first number, the rank after it the second, all others the third. */
enum number {
    ZERO,
    MINUS_ZERO,
    ONE,
    MINUS_ONE,
    TWO,
    FOUR,
    TINY,
    MINUS_TINY,
    INFINITE,
    MINUS_INFINITE,
    NOT_A_NUMBER,
    LEAST,
    LARGEST,
    NUMBERS_OF_ALL
};

struct operands {
    enum number first, second, others;
};

/* Neither the least nor the largest of a NaN and a number is defined, nor is the sign of a sum that is zero. */
static const struct operands sums[] = {
    {MINUS_ZERO, MINUS_ZERO, MINUS_ZERO}, {INFINITE, ONE, ONE}, {MINUS_INFINITE, ONE, ONE}, {NOT_A_NUMBER, ONE, ONE},
    {INFINITE, MINUS_INFINITE, ONE},      {TINY, TINY, TINY},   {MINUS_TINY, ZERO, ZERO},
};
static const struct operands products[] = {
    {MINUS_ZERO, ONE, ONE}, {INFINITE, TWO, ONE}, {MINUS_INFINITE, TWO, ONE}, {NOT_A_NUMBER, ONE, ONE},
    {INFINITE, ZERO, ONE},  {TINY, ONE, ONE},     {MINUS_TINY, TWO, ONE},
};
static const struct operands minima[] = {
    {MINUS_ZERO, MINUS_ZERO, MINUS_ZERO},
    {INFINITE, INFINITE, INFINITE},
    {MINUS_INFINITE, ONE, ONE},
    {TINY, ONE, ONE},
    {MINUS_TINY, ZERO, ZERO},
    {INFINITE, ONE, INFINITE},
};
static const struct operands maxima[] = {
    {MINUS_ZERO, MINUS_ZERO, MINUS_ZERO},
    {MINUS_INFINITE, MINUS_INFINITE, MINUS_INFINITE},
    {INFINITE, ONE, ONE},
    {MINUS_TINY, MINUS_ONE, MINUS_ONE},
    {TINY, ZERO, ZERO},
    {MINUS_INFINITE, ONE, MINUS_INFINITE},
};
static const struct operands whole_sums[] = {{LEAST, LARGEST, ZERO}, {LEAST, ZERO, ZERO}, {LARGEST, ZERO, ZERO}};
static const struct operands whole_products[] = {{MINUS_ONE, LARGEST, ONE}, {LEAST, ONE, ONE}, {MINUS_ONE, MINUS_ONE, MINUS_ONE}};
static const struct operands whole_extremes[] = {{LEAST, LARGEST, ZERO}, {LARGEST, LARGEST, LARGEST}, {LEAST, LEAST, LEAST}};
static const struct operands truths[] = {{TWO, FOUR, LEAST}, {ZERO, TWO, LEAST}, {LEAST, ZERO, ZERO}, {ZERO, ZERO, ZERO}};

enum { MOST_OPERANDS = 8 };

struct table {
    const struct operands *operands;
    int count;
};

#define TABLE(list) {(list), sizeof(list) / sizeof *(list)}

/* In the order of the choice `reduction`; bits have no special numbers. */
static const struct table floating_tables[] = {TABLE(sums), TABLE(products), TABLE(minima), TABLE(maxima)};
static const struct table whole_tables[] = {TABLE(whole_sums),     TABLE(whole_products), TABLE(whole_extremes),
                                            TABLE(whole_extremes), TABLE(truths),         TABLE(truths),
                                            TABLE(truths)};

static int selected;

void use_special_numbers(int selection) {
    selected = selection;
}

bool uses_special_numbers(void) {
    return selected != 0;
}

static bool is_whole(const struct call *call) {
    return call->message.datatype->basic == MPI_INT;
}

static struct table find_table(const struct call *call) {
    int64_t which = read_choice(call, &reduction_choice);
    which = which == REDUCTION_USER ? 0 : which;
    if (is_whole(call))
        return which < LENGTH(whole_tables) ? whole_tables[which] : (struct table){NULL, 0};
    return which < LENGTH(floating_tables) ? floating_tables[which] : (struct table){NULL, 0};
}

int count_special_numbers(const struct call *call) {
    return find_table(call).count;
}

static double find_value(const struct call *call, enum number number) {
    const double tiny = 3 * (call->message.datatype->basic == MPI_FLOAT ? (double)FLT_TRUE_MIN : DBL_TRUE_MIN);
    const double values[NUMBERS_OF_ALL] = {
        [MINUS_ZERO] = -0.0,
        [ONE] = 1,
        [MINUS_ONE] = -1,
        [TWO] = 2,
        [FOUR] = 4,
        [TINY] = tiny,
        [MINUS_TINY] = -tiny,
        [INFINITE] = INFINITY,
        [MINUS_INFINITE] = -INFINITY,
        [NOT_A_NUMBER] = NAN,
        [LEAST] = INT32_MIN,
        [LARGEST] = INT32_MAX,
    };
    return values[number];
}

/* Which of the special numbers element `position` of the vector has. */
static long find_kind(const struct call *call, long position) {
    return (position + selected) % find_table(call).count;
}

static double find_operand(const struct call *call, long kind, int rank) {
    const struct operands *operands = &find_table(call).operands[kind];
    const int ranks = call->peers.ranks, first = selected % ranks;
    return find_value(call, rank == first ? operands->first : rank == (first + 1) % ranks ? operands->second : operands->others);
}

static void store(const struct call *call, unsigned char *place, double value) {
    if (is_whole(call))
        memcpy(place, &(int){(int)value}, sizeof(int));
    else if (call->message.datatype->basic == MPI_FLOAT)
        memcpy(place, &(float){(float)value}, sizeof(float));
    else
        memcpy(place, &value, sizeof value);
}

static double load(const struct call *call, const unsigned char *place) {
    int number;
    float single;
    double value;
    memcpy(&number, place, sizeof number);
    memcpy(&single, place, sizeof single);
    if (is_whole(call))
        return number;
    if (call->message.datatype->basic == MPI_FLOAT)
        return (double)single;
    memcpy(&value, place, sizeof value);
    return value;
}

void fill_special(const struct call *call, unsigned char *data, long elements, long from, int rank) {
    const struct float_mode before = set_plain_mode();
    double values[MOST_OPERANDS];
    for (int kind = 0; kind < find_table(call).count; kind++)
        values[kind] = find_operand(call, kind, rank);
    for (long i = 0; i < elements; i++)
        store(call, data + i * call->message.datatype->bytes, values[find_kind(call, from + i)]);
    set_float_mode(before);
}

static bool is_right(const struct call *call, double actual, double expected) {
    const int64_t which = read_choice(call, &reduction_choice);
    if (is_whole(call) && whole_tables[which == REDUCTION_USER ? 0 : which].operands == truths)
        return (actual != 0) == (expected != 0);
    if (isnan(expected))
        return isnan(actual);
    const bool sums_up = find_table(call).operands == sums;
    return actual == expected && (sums_up || signbit(actual) == signbit(expected));
}

static const char *describe(const struct call *call, double expected) {
    if (is_whole(call))
        return "a reduction of the least or the largest whole numbers, or of truth values other than 1, is wrong";
    if (isnan(expected))
        return "the result of a reduction must be NaN and is a number";
    if (isinf(expected))
        return "the result of a reduction must be infinite and is not";
    if (expected == 0)
        return "the result of a reduction must be zero, with the right sign, and is not";
    if (fabs(expected) < 1)
        return "the result of a reduction must be a denormal number and is not: such numbers become 0 or lose bits";
    return "a reduction of special numbers is wrong";
}

void check_special(const struct call *call, reduce_function *merge, const unsigned char *data, long elements, long from,
                   int first_rank, int last_rank, struct mismatch *mismatch) {
    const struct float_mode before = set_plain_mode();
    const int width = call->message.datatype->bytes;
    double expected[MOST_OPERANDS];
    for (int kind = 0; kind < find_table(call).count; kind++) {
        expected[kind] = find_operand(call, kind, first_rank);
        for (int rank = first_rank + 1; rank <= last_rank; rank++)
            expected[kind] = merge(expected[kind], find_operand(call, kind, rank));
    }
    for (long i = 0; i < elements && mismatch->wrong_bytes == 0; i++) {
        const long kind = find_kind(call, from + i);
        if (is_right(call, load(call, data + i * width), expected[kind]))
            continue;
        mismatch->wrong_bytes += width;
        mismatch->instead = describe(call, expected[kind]);
    }
    set_float_mode(before);
}
