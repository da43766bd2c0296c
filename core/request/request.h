/* The request for one case. */
#ifndef RANKBENCH_REQUEST_H
#define RANKBENCH_REQUEST_H

#include <stdint.h>

#include "base/op.h"

enum { MOST_SAMPLES = 100000000, MOST_FILL = 5, SETTINGS_BYTES = 256 };

/* Stopping rules of a case: the first that applies ends it. 0 disables a rule. */
struct stop {
    int64_t samples;
    int64_t tries;
    double rse;
    double interval;
    int64_t least;
    /* Continues beyond `samples`, up to MOST_FILL times as many, until this time. */
    double fill_s;
    double limit_s;
};

/* The request for a case. It contains names and no pointers, so that rank 0 can send it to the others. */
struct request {
    char operation[NAME_BYTES];
    char form[NAME_BYTES];
    char datatype[NAME_BYTES];
    char start[NAME_BYTES];
    char cache[NAME_BYTES];
    char buffers[NAME_BYTES];
    char pages[NAME_BYTES];
    /* Control variables of the library for this case, `NAME=VALUE;NAME=VALUE`. */
    char settings[SETTINGS_BYTES];
    int64_t alignment;
    int64_t root;
    int64_t bytes;
    /* Values of the operation's choices, in their order. */
    int64_t values[MOST_CHOICES];
    struct stop stop;
    /* Turns to pass before this case, in which only other launches measure. All members before it are what the case is:
     * they are compared as a whole, without padding or bytes after a text. */
    int idle;
};

int64_t read_requested_choice(const struct request *request, const struct choice *choice);

#endif
