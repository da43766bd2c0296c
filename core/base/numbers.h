/* Of two whole numbers the larger, the smaller and the greatest common divisor; a value within limits; and sorted values. */
#ifndef RANKBENCH_NUMBERS_H
#define RANKBENCH_NUMBERS_H

#include <stdint.h>
#include <stdlib.h>

static inline int64_t max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t gcd(int64_t a, int64_t b) {
    return b == 0 ? a : gcd(b, a % b);
}

/* The whole part of a value, which may be larger than any number; at least `least` and at most `most`. */
static inline int64_t clamp(double value, int64_t least, int64_t most) {
    return value<(double)least ? least : value>(double) most ? most : (int64_t)value;
}

static inline int compare_values(const void *first, const void *second) {
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static inline void sort_values(double *values, int64_t count) {
    qsort(values, (size_t)count, sizeof *values, compare_values);
}

/* The nearest of sorted values; 0: there are none. */
static inline double find_quantile(const double *sorted, int64_t count, double share) {
    return count ? sorted[(int64_t)(share * (double)(count - 1) + 0.5)] : 0;
}

/* Sorts the values. Of an even number, the mean of the two in the middle. */
static inline double find_median(double *values, int count) {
    sort_values(values, count);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

#endif
