/* What is measured of a case that is prepared: its times, the communication that a computation hides, or a single value. */
#ifndef RANKBENCH_QUANTITIES_H
#define RANKBENCH_QUANTITIES_H

#include "output/result.h"
#include "timing/measurement.h"
#include "verify/setting.h"

/* Room for samples and moments; false where the system has none. */
bool allocate_samples(struct measurement *measurement, const struct stop *stop, bool leads);
/* Says that the system gave no memory for them. */
void note_no_memory(struct outcome *outcome, const struct measurement *measurement);

void time_case(const struct setting *setting, struct timing *timing, struct result *result);

/* What happens once has one sample; so has memory, which is held from the first use on. */
bool has_single_value(const struct setting *setting);
void record_value(const struct setting *setting, const struct timing *timing, struct measurement *measurement);

#endif
