/* When a case has samples enough. */
#ifndef RANKBENCH_STOP_H
#define RANKBENCH_STOP_H

#include "timing/measurement.h"

struct stopping {
    int64_t count;
    double mean, squares;
    int64_t next_look;
};
int64_t count_most_tries(const struct stop *stop);
/* Valid samples that a case needs which has been timed for so long. */
int64_t count_needed_samples(const struct stop *stop, double timed_ns);
void add_to_stopping(struct stopping *stopping, const struct sample *sample);
/* `step_ns`: by how much two samples differ at least, unless they are equal. */
enum stopped find_stop(struct stopping *stopping, const struct stop *stop, const struct start *start,
                       const struct measurement *so_far, double timed_ns, double step_ns);

#endif
