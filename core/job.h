/* What is to be measured, as the command line and the job file say it. */
#ifndef RANKBENCH_JOB_H
#define RANKBENCH_JOB_H

#include <stdio.h>

#include "choices.h"
#include "core.h"

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
struct wanted {
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

struct job {
    /* Where cases are read from; empty: they were told on the command line. */
    char file[LINE_BYTES];
    char stream[LINE_BYTES];
    /* With which other launches it measures in turn; empty: it is alone. */
    char turns[LINE_BYTES];
    /* Of the case that is read next. */
    int idle;
    char source[NAME_BYTES];
    char synchronisation[NAME_BYTES];
    bool describe;
    bool help;
    bool check;
    /* Every case is only rehearsed: are its calls there, and are the data right? */
    bool probe;
    bool state;
    bool study;
    /* Only list the library's control variables. */
    bool cvars;
    bool every_rank;
    bool each_call;
    /* Whether MPI is told that several threads will call it. */
    bool threads;
    bool separate_clocks;
    bool quiet;
    /* Asked for on the command line: what cannot be run as asked is then the person's error, else it is a row. */
    bool by_hand;
    /* How long ranks may be busy with one phase of a case without getting on. */
    double patience_s;
    int64_t runs;
    double wait_s;
    char cpus[LINE_BYTES];
    int cases;
    struct wanted *wanted;
};

/* What every rank knows. Returns false with one line in `error` if the arguments make no sense. */
bool read_arguments(int argc, char **argv, struct job *job, char error[LINE_BYTES]);
/* What rank 0 reads for all: the job file, if the arguments name one. */
bool read_job(struct job *job, char error[LINE_BYTES]);
void print_help(FILE *out);
int64_t value_of(const struct wanted *wanted, const struct choice *choice);

#endif
