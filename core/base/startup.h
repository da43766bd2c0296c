/* Time and memory that the library needs to start. */
#ifndef RANKBENCH_STARTUP_H
#define RANKBENCH_STARTUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/float_mode.h"

/* Time of MPI_Init on this rank. */
extern int64_t startup_ns;

/* Calls MPI_Init, or MPI_Init_thread if `threads`, and measures its time and memory. */
void start_library(bool threads);
/* Memory of this process in bytes; memory shared by n processes counts 1/n (PSS in the kernel's terms). */
int64_t read_memory_bytes(void);
/* Memory that MPI_Init added. */
int64_t read_startup_bytes(void);
/* The processor's mode for floating-point numbers after MPI_Init, in words, and since when; empty: that of every program. */
void describe_startup_mode(char into[FLOAT_MODE_BYTES]);
/* Why threads may not call the library; NULL: they may. */
const char *why_no_threads(void);

#endif
