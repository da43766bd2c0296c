/* What the files of the core say to each other, beside the contract of op.h. */
#ifndef RANKBENCH_CORE_H
#define RANKBENCH_CORE_H

#include <stdio.h>

#include "op.h"
#include "tree.h"

#define CORE_VERSION "0.1.0"
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { EXIT_MPI = 1, EXIT_INPUT = 2, EXIT_DATA = 3, LINE_BYTES = 512, MOST_SAMPLES = 100000000, VERSION_BYTES = 8192 };

/* registry.c */
extern const struct datatype datatypes[];
extern const int datatype_count;
extern const char *const form_names[FORMS];
extern const char *last_missing_call;
const struct operation *find_operation(const char *name);
const struct start *find_start(const char *name);
const struct source *find_source(const char *name);
const struct synchronisation *find_synchronisation(const char *name);
const struct datatype *find_datatype(const char *name);
const char *default_datatype(const struct operation *operation);
void describe(FILE *out);

/* job.c: what is to be measured. Names, not pointers, so that rank 0 can send it to the others as it is. */
struct wanted {
    char operation[NAME_BYTES];
    char form[NAME_BYTES];
    char datatype[NAME_BYTES];
    char start[NAME_BYTES];
    int64_t bytes;
    int64_t samples;
    double limit_s;
};

struct job {
    char stream[LINE_BYTES];
    char source[NAME_BYTES];
    char synchronisation[NAME_BYTES];
    bool describe;
    bool help;
    bool check;
    bool quiet;
    /* Asked for on the command line: what cannot be run as asked is then the person's error, else it is a row. */
    bool by_hand;
    int cases;
    struct wanted *wanted;
};

/* Returns false with one line in `error` if the arguments, or the job file they name, make no sense. */
bool read_job(int argc, char **argv, struct job *job, char error[LINE_BYTES]);
void print_help(FILE *out);

/* facts.c: where a rank really runs. */
struct rank_fact {
    char host[NAME_BYTES * 2];
    char cpus[LINE_BYTES];
    char clock[NAME_BYTES * 4];
    char libmpi[LINE_BYTES];
    int cpu;
};

struct launch_fact {
    char library[VERSION_BYTES];
    int mpi_version;
    int mpi_subversion;
    int64_t resolution_ns;
    double cost_ns;
};

struct rank_fact read_rank_fact(void);
struct launch_fact read_launch_fact(const struct source *source);

/* case.c, sample.c: one case from its buffers to its samples. */
enum { SERIES_ALL = -1 };
enum round_state { ROUND_LATE = 1, ROUND_OVERRUN = 2 };

struct sample {
    double time_ns;
    int32_t last_rank;
    int32_t state;
};

struct measurement {
    struct sample *samples;
    int64_t taken;
    int64_t capacity;
    int64_t late;
    int64_t overrun;
};

struct result {
    const char *status;
    char reason[LINE_BYTES];
    struct measurement measurement;
    int64_t sync_bound_ns;
    int64_t drift_ns;
    bool migrated;
    int ranks;
    bool single;
};

struct world {
    struct team all;
    struct team pair;
    MPI_Comm operations;
    const struct source *source;
    const struct synchronisation *synchronisation;
    bool shares_clock;
    bool yields;
    int ranks_on_host;
};

struct plan {
    const struct operation *operation;
    enum form form;
    const struct start *start;
    const struct wanted *wanted;
};

/* Runs one case on every rank of the world; the result is complete on rank 0 only. */
struct result run_case(const struct world *world, const struct wanted *wanted);

struct timing {
    const struct team *team;
    const struct world *world;
    const struct operation *operation;
    const struct start *start;
    struct call *call;
    int (*run)(struct call *);
    int64_t offset_ns;
    int64_t wanted_samples;
    double limit_s;
};

/* Returns the first MPI error code of this rank, or MPI_SUCCESS. */
int measure(const struct timing *timing, struct measurement *into);

/* stream.c */
void write_launch(FILE *stream, const struct launch_fact *launch, const struct source *source, int ranks);
void write_rank(FILE *stream, int rank, const struct rank_fact *fact);
void write_begin(FILE *stream, int index);
void write_result(FILE *stream, int index, const struct wanted *wanted, const struct result *result);
void write_end(FILE *stream, int cases);
void write_string(FILE *out, const char *text);

/* table.c */
void print_head(FILE *out, const struct launch_fact *launch, const struct source *source, int ranks);
void print_row(FILE *out, const struct wanted *wanted, const struct result *result);

#endif
