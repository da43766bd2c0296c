/* What this process writes: a library that prints in a call prolongs it. */
#ifndef RANKBENCH_PRINTING_H
#define RANKBENCH_PRINTING_H

#include <stdint.h>

/* What this process has handed to write() and its kin so far, of all threads and to whatever file; 0: not known. The core
 * writes nothing itself while calls are timed. */
struct written {
    int64_t bytes, calls;
};

struct written read_written(void);
/* What was surely printed since then: less so many bytes of every call as one has that only wakes another thread. */
int64_t count_printed(const struct written *before);

#endif
