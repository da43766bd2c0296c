/* Output of this process: a library that prints during a call prolongs it. */
#ifndef RANKBENCH_PRINTING_H
#define RANKBENCH_PRINTING_H

#include <stdint.h>

/* Bytes and calls of write() and similar so far, by all threads, to any file; 0: unknown. The core itself writes
 * nothing while calls are timed. */
struct written {
    int64_t bytes, calls;
};

struct written read_written(void);
/* Bytes printed since `before`, a lower bound: those of calls that may only have woken a thread are subtracted. */
int64_t count_printed(const struct written *before);

#endif
