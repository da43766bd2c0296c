/* The larger and the smaller of two whole numbers, and their greatest common divisor. */
#ifndef RANKBENCH_NUMBERS_H
#define RANKBENCH_NUMBERS_H

#include <stdint.h>

static inline int64_t max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t gcd(int64_t a, int64_t b) {
    return b == 0 ? a : gcd(b, a % b);
}

#endif
