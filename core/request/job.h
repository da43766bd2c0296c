/* What is to be measured, as the command line and the job file say it. */
#ifndef RANKBENCH_JOB_H
#define RANKBENCH_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "base/core.h"
#include "request/request.h"

struct job {
    /* Where cases are read from; empty: they are given on the command line. */
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
    /* Of the message of a check. */
    int64_t check_bytes;
    /* Every case is only rehearsed: are its calls there, and are the data right? */
    bool probe;
    bool state;
    bool study;
    /* Only list the library's control variables. */
    bool cvars;
    bool every_rank;
    bool each_call;
    /* Whether MPI is initialised for calls from several threads. */
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
    /* Where the kernel shows devices; empty: /sys. */
    char sysfs[LINE_BYTES];
    int cases;
    struct request *requests;
};

/* What every rank knows. Returns false with one line in `error` if the arguments are invalid. */
bool read_arguments(int argc, char **argv, struct job *job, char error[LINE_BYTES]);
/* What rank 0 reads for all: the job file, if the arguments name one. */
bool read_job(struct job *job, char error[LINE_BYTES]);
void print_help(FILE *out);

#endif
