#include "timing/overlap.h"

#include "kit/calls.h"

/* The computation has a fixed amount of work, not of time: if the library uses the same core meanwhile, the overall
 * time grows. The state depends on all earlier calls, so that no compiler can move the work out of the loop. */
static volatile double state;

static void compute(long steps) {
    double value = state;
    for (long i = 0; i < steps; i++)
        value = value * 0.999999 + 1e-6;
    state = value;
}

long count_steps(double time_ns, int64_t (*read_ns)(void)) {
    enum { STEPS = 50000, TRIES = 5 };
    int64_t least_ns = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const int64_t began_ns = read_ns();
        compute(STEPS);
        const int64_t took_ns = read_ns() - began_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return (long)(time_ns * STEPS / (double)(least_ns > 0 ? least_ns : 1)) + 1;
}

int run_computation(struct call *call) {
    for (int part = 0; part < call->work->parts; part++)
        compute(call->work->steps / call->work->parts);
    return MPI_SUCCESS;
}

int run_overlapped(struct call *call) {
    const struct work *work = call->work;
    MPI_Status *statuses = find_statuses(call);
    int code = begin_call(call), over = 0;
    for (int part = 0; part < work->parts && !code; part++) {
        compute(work->steps / work->parts);
        if (part + 1 < work->parts)
            code = test_call(call, statuses, &over);
        if (over)
            statuses = NULL;
    }
    return code ? code : wait_for_call(call, statuses);
}
