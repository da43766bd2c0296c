/* The quantities of a case: times, overlap with a computation, or a single value. */
#ifndef RANKBENCH_QUANTITIES_H
#define RANKBENCH_QUANTITIES_H

#include "output/result.h"
#include "timing/measurement.h"
#include "verify/setting.h"

/* Allocates samples and rounds; false if the system has no memory. */
bool allocate_samples(struct measurement *measurement, const struct stop *stop, bool leads);
/* Notes that the system gave no memory for them. */
void note_no_memory(struct outcome *outcome, const struct measurement *measurement);

void time_case(const struct setting *setting, struct timing *timing, struct result *result);

/* What happens once per launch has one sample; so has memory, which is allocated at the first use. */
bool has_single_value(const struct setting *setting);
void record_value(const struct setting *setting, const struct timing *timing, struct measurement *measurement);

#endif
