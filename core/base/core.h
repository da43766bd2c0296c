/* Constants for all files of the core. CORE_VERSION is in missing.h. */
#ifndef RANKBENCH_CORE_H
#define RANKBENCH_CORE_H

#include <stdio.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { EXIT_MPI = 1, EXIT_INPUT = 2, EXIT_DATA = 3, EXIT_STREAM = 4, EXIT_STUCK = 5, LINE_BYTES = 1024 };

#endif
