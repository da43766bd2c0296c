/* Free memory. */
#ifndef RANKBENCH_FREE_MEMORY_H
#define RANKBENCH_FREE_MEMORY_H

/* Bytes, on this host and within the control groups of this process; very large if unknown. */
double read_free_memory(void);

#endif
