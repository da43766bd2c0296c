/* What receives report of the message that they delivered: its source, tag and count. */
#ifndef RANKBENCH_STATUS_H
#define RANKBENCH_STATUS_H

#include "verify/setting.h"

/* Whether the case is messages between two ranks. */
bool has_statuses(const struct setting *setting);
/* One message each way, received by the call of the case's form. Called by all ranks of the team. */
void check_statuses(const struct setting *setting);
/* What a worker's last receives reported must be right. */
void inspect_receipts(const struct setting *setting, struct worker *worker);

#endif
