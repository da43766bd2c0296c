/* Results of a case. */
#ifndef RANKBENCH_RESULT_H
#define RANKBENCH_RESULT_H

#include "base/op.h"
#include "timing/measurement.h"
#include "verify/outcome.h"

struct result {
    struct outcome outcome;
    struct measurement measurement;
    int64_t sync_bound_ns;
    /* Factor from the bound against rank 0's clock, which is exact, to that between two ranks: 2 if neither is rank 0. */
    double bound_factor;
    /* The same for estimated errors. */
    double error_factor;
    /* The rank that moved to another CPU, in words; empty: none. */
    char moved[NAME_BYTES * 2];
    /* Grid of the ranks, and its `order`, which is freed with the result. */
    struct layout layout;
    int *order;
    int ranks;
    /* The only rank that measures, or SERIES_ALL. */
    int measurer;
    /* Medians of the communication alone and of the computation alone, if they are to overlap. */
    double pure_ns, compute_ns;
    int64_t spread_ns;
    struct strain strain;
    /* Cost of the start and of reading the clock, contained in every time; 0: unknown. */
    double cost_ns;
};

#endif
