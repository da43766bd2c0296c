/* Statuses of receives: source, tag and count of the delivered message. */
#ifndef RANKBENCH_STATUS_H
#define RANKBENCH_STATUS_H

#include "verify/setting.h"

/* Whether the case sends messages between two ranks. */
bool has_statuses(const struct setting *setting);
/* One message each way, received by the call of the case's form. Called by all ranks of the team. */
void check_statuses(const struct setting *setting);
/* Checks the statuses of a worker's last receives. */
void inspect_receipts(const struct setting *setting, struct worker *worker);

#endif
