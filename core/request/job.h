/* A job: the requested cases, from the command line or a job file. */
#ifndef RANKBENCH_JOB_H
#define RANKBENCH_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "base/core.h"
#include "request/request.h"

struct job {
    /* Job file; empty: cases are given on the command line. */
    char file[LINE_BYTES];
    char stream[LINE_BYTES];
    /* List of the library's files to report (sync/library_files.h); empty: they are not reported. */
    char files[LINE_BYTES];
    /* Launches to measure in turn with; empty: none. */
    char turns[LINE_BYTES];
    /* Turns to pass before the next case that is read. */
    int idle;
    char source[NAME_BYTES];
    char synchronisation[NAME_BYTES];
    bool describe;
    bool help;
    bool check;
    /* Message size of a check. */
    int64_t check_bytes;
    /* Cases are not timed: only the presence of calls and their data are checked. */
    bool probe;
    bool state;
    bool study;
    /* Only studies the bits of sums. */
    bool sums;
    /* File of rounds in which nodes and links are measured (study/rounds.h); empty: cases are measured. */
    char rounds[LINE_BYTES];
    /* Only lists the control variables of the library. */
    bool cvars;
    bool every_rank;
    bool each_call;
    /* Whether MPI is initialised with MPI_THREAD_MULTIPLE. */
    bool threads;
    bool separate_clocks;
    bool quiet;
    /* Cases are given on the command line: those that cannot run are the user's error; otherwise each is a row of the
     * results. */
    bool by_hand;
    /* Longest time without progress in a phase of a case. */
    double patience_s;
    int64_t runs;
    double wait_s;
    char cpus[LINE_BYTES];
    /* Root of sysfs; empty: /sys. */
    char sysfs[LINE_BYTES];
    int cases;
    struct request *requests;
};

/* Reads the arguments, on every rank. Returns false with one line in `error` if they are invalid. */
bool read_arguments(int argc, char **argv, struct job *job, char error[LINE_BYTES]);
/* Reads the job file, if there is one, on rank 0. */
bool read_job(struct job *job, char error[LINE_BYTES]);
void print_help(FILE *out);

#endif
