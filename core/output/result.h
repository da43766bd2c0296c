/* Results of a case. */
#ifndef RANKBENCH_RESULT_H
#define RANKBENCH_RESULT_H

#include "base/core.h"
#include "base/op.h"
#include "timing/measurement.h"
#include "verify/outcome.h"

struct result {
    enum severity severity;
    char reason[LINE_BYTES];
    char cause[NAME_BYTES];
    char fallback[LINE_BYTES / 2];
    struct measurement measurement;
    int64_t sync_bound_ns;
    /* Factor from the bound against rank 0's clock, which is exact, to that between two ranks: 2 if neither is rank 0. */
    double bound_factor;
    /* The same for estimated errors. */
    double error_factor;
    int64_t drift_ns;
    /* The rank that moved to another CPU, in words; empty: none. */
    char moved[NAME_BYTES * 2];
    /* Grid of the ranks, and its `order`, which is freed with the result. */
    struct layout layout;
    int *order;
    int ranks;
    /* The only rank that measures, or SERIES_ALL. */
    int measurer;
    int64_t moved_bytes, moved_messages;
    /* Medians of the communication alone and of the computation alone, if they are to overlap. */
    double pure_ns, compute_ns;
    int64_t growth_bytes, spread_ns, printed_bytes;
    struct strain strain;
    /* Time of the first two calls, before anything was timed; 0: not made. */
    int64_t call_ns[2];
    /* Cost of the start and of reading the clock, contained in every time; 0: unknown. */
    double cost_ns;
};

#endif
