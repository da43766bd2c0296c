/* The state of this machine, measured without MPI. */
#ifndef RANKBENCH_STATE_H
#define RANKBENCH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Prints a JSON object for the CPUs of a list such as `0,2-5`; NULL: those that this process may use. Takes about 50
 * ms, and a few seconds at most on a busy machine. Returns false with one line in `error` if it cannot measure. */
bool print_state(FILE *out, const char *cpus, char *error, size_t error_bytes);

#endif
