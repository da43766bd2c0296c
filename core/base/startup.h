/* What starting the library cost, and what it holds of memory. */
#ifndef RANKBENCH_STARTUP_H
#define RANKBENCH_STARTUP_H

#include <stdbool.h>
#include <stdint.h>

/* How long MPI_Init took on this rank. */
extern int64_t startup_ns;

/* Calls MPI_Init, or MPI_Init_thread for several threads, between two looks at clock and memory. */
void start_library(bool threads);
/* Bytes of this process' memory, what it shares with others by halves, thirds...: what the kernel calls PSS. */
int64_t read_memory_bytes(void);
/* By how much MPI_Init made it grow. */
int64_t read_startup_bytes(void);
/* Why no several threads may call the library; NULL: they may. */
const char *why_no_threads(void);

#endif
