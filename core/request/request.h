/* What is to be measured of one case, as the command line or the job file says it. */
#ifndef RANKBENCH_REQUEST_H
#define RANKBENCH_REQUEST_H

#include <stdint.h>

#include "base/op.h"

enum { MOST_SAMPLES = 100000000, MOST_FILL = 5, SETTINGS_BYTES = 256 };

/* When a case has enough samples: at whichever comes first. What is 0 does not count. */
struct stop {
    int64_t samples;
    int64_t tries;
    double rse;
    double interval;
    int64_t least;
    /* Beyond the samples, up to MOST_FILL times as many, until the case has been timed for so long. */
    double fill_s;
    double limit_s;
};

/* What is to be measured. Names, not pointers, so that rank 0 can send it to the others as it is. */
struct request {
    char operation[NAME_BYTES];
    char form[NAME_BYTES];
    char datatype[NAME_BYTES];
    char start[NAME_BYTES];
    char cache[NAME_BYTES];
    char buffers[NAME_BYTES];
    char pages[NAME_BYTES];
    /* Control variables of the library while the case is measured, `NAME=VALUE;NAME=VALUE`. */
    char settings[SETTINGS_BYTES];
    int64_t alignment;
    int64_t root;
    int64_t bytes;
    /* Of each of the operation's choices, in their order. */
    int64_t values[MOST_CHOICES];
    struct stop stop;
    /* Turns before its own in which other launches measure what this one does not. */
    int idle;
};

int64_t read_requested_choice(const struct request *request, const struct choice *choice);

#endif
