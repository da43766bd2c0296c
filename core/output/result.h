/* What became of a case. */
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
    /* By how much two ranks' clocks may differ more than one from rank 0's, which is exact: twice, if there are two others. */
    double bound_factor;
    /* The same of likely errors. */
    double error_factor;
    int64_t drift_ns;
    /* Which rank went to another CPU meanwhile, in words; empty: none. */
    char moved[NAME_BYTES * 2];
    /* How ranks lie on a grid, and its `order`, which is freed with the result. */
    struct layout layout;
    int *order;
    int ranks;
    /* The rank that alone measures, or SERIES_ALL. */
    int measurer;
    int64_t moved_bytes, moved_messages;
    /* Medians of the communication alone and of the computation alone, where they are to overlap. */
    double pure_ns, compute_ns;
    int64_t growth_bytes, spread_ns, printed_bytes;
    /* How long the first two calls took, before anything was timed; 0: not made. */
    int64_t call_ns[2];
    /* What the start and the clock's readings take of every time; 0: not known. */
    double cost_ns;
};

#endif
