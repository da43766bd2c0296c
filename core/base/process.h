/* What the system reports of this process. No function uses stdio, so that signal handlers may call them. */
#ifndef RANKBENCH_PROCESS_H
#define RANKBENCH_PROCESS_H

#include <stdint.h>

/* Time for which the main thread could have run and waited for a CPU, since its start; negative: unknown. */
int64_t read_waited_ns(void);
/* Memory of this process that is in use now, without what it shares; negative: unknown. */
int64_t read_own_bytes(void);
/* Ends this process when the one that started it has ended: what a scheduler ends on other nodes is often only that one. */
void end_with_parent(void);

#endif
