/* How much memory is left. */
#ifndef RANKBENCH_ROOM_H
#define RANKBENCH_ROOM_H

/* Bytes, on this host and within the control groups of this process; very many where nobody tells. */
double free_memory(void);

#endif
