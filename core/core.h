/* What the files of the core say to each other, beside the contract of op.h. */
#ifndef RANKBENCH_CORE_H
#define RANKBENCH_CORE_H

#include <stdio.h>

#include "choices.h"
#include "clock.h"
#include "memory.h"
#include "op.h"
#include "tree.h"

#define CORE_VERSION "0.4.0"
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { EXIT_MPI = 1, EXIT_INPUT = 2, EXIT_DATA = 3, EXIT_STREAM = 4, EXIT_STUCK = 5, LINE_BYTES = 512, MOST_SAMPLES = 100000000, VERSION_BYTES = 8192,
       IDENTITY_BYTES = 192, MOST_SOURCES = 8 };

/* registry.c */
extern const char *const form_names[FORMS];
extern const char *last_missing_call;
const struct operation *find_operation(const char *name);
const struct start *find_start(const char *name);
const struct source *find_source(const char *name);
const struct synchronisation *find_synchronisation(const char *name);
/* Units in the order of their names; NULL: the first, and after the last. */
const struct operation *next_operation(const struct operation *before);
const struct datatype *next_datatype(const struct datatype *before);
const struct start *next_start(const struct start *before);
const struct source *next_source(const struct source *before);
const struct synchronisation *next_synchronisation(const struct synchronisation *before);
#define EACH_BY_NAME(kind, unit) \
    for (const struct kind *unit = next_##kind(NULL); unit; unit = next_##kind(unit))
const struct datatype *find_datatype(const char *name);
const char *default_datatype(const struct operation *operation);
const char *default_form(const struct operation *operation);
bool can_have(const struct operation *operation, const struct datatype *datatype);
void describe(FILE *out);

/* When a case has enough samples: at whichever comes first. What is 0 does not count. */
struct stop {
    int64_t samples;
    int64_t tries;
    double rse;
    double interval;
    int64_t least;
    double limit_s;
};

/* job.c: what is to be measured. Names, not pointers, so that rank 0 can send it to the others as it is. */
struct wanted {
    char operation[NAME_BYTES];
    char form[NAME_BYTES];
    char datatype[NAME_BYTES];
    char start[NAME_BYTES];
    char cache[NAME_BYTES];
    char buffers[NAME_BYTES];
    char pages[NAME_BYTES];
    int64_t alignment;
    int64_t root;
    int64_t bytes;
    /* Of each of the operation's choices, in their order. */
    int64_t values[MOST_CHOICES];
    struct stop stop;
};

struct job {
    /* Where cases are read from; empty: they were told on the command line. */
    char file[LINE_BYTES];
    char stream[LINE_BYTES];
    char source[NAME_BYTES];
    char synchronisation[NAME_BYTES];
    bool describe;
    bool help;
    bool check;
    /* Every case is only rehearsed: are its calls there, and are the data right? */
    bool probe;
    bool state;
    bool study;
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

/* facts.c: where a rank really runs. */
struct rank_fact {
    char host[NAME_BYTES * 2];
    char cpus[LINE_BYTES];
    char clock[IDENTITY_BYTES];
    char libmpi[LINE_BYTES];
    int cpu;
    /* Where that CPU is, by the numbers of the system; -1: it does not say. */
    int core, socket, numa;
};

struct launch_fact {
    char library[VERSION_BYTES];
    int mpi_version;
    int mpi_subversion;
    int64_t last_level_cache_bytes;
    /* The CPUs that share it with this rank's. */
    char cache_sharers[LINE_BYTES];
};

struct rank_fact read_rank_fact(const struct source *source);
struct launch_fact read_launch_fact(void);
/* Where the rank was before it may have moved: on this CPU, or, if somebody bound it anew since, where it was at first. */
int cpu_before(int cpu);
void read_identity(enum sharing sharing, char into[IDENTITY_BYTES]);
int64_t namespace_offset_ns(void);

/* source.c: what the time sources are worth. */
struct source_fact {
    char name[NAME_BYTES];
    char reason[REASON_BYTES];
    bool usable;
    int64_t resolution_ns;
    double cost_ns;
};

int source_count(void);
struct source_fact read_source_fact(const struct source *source);
void read_sources(const struct team *team, struct source_fact facts[MOST_SOURCES]);
const struct source_fact *fact_of(const struct source_fact *facts, const char *name);
const struct source *choose_source(const struct source_fact *facts, char reason[REASON_BYTES]);

/* case.c, sample.c: one case from its buffers to its samples. */
enum { SERIES_ALL = -1 };
/* LATE: not every rank began when it should have. SKIPPED: a rank came after the moment of its window and took a later one, or
 * heard of the moment after it. */
enum round_state { ROUND_LATE = 1, ROUND_OVERRUN = 2, ROUND_FAILED = 4, ROUND_SKIPPED = 8 };

/* One round over all ranks, or of one of them. First and last are the earliest and the latest beginning on rank 0's clock. */
struct sample {
    double time_ns;
    /* When the round should have begun, as this rank has it: the same for all ranks that took the same window. */
    int64_t common_ns;
    int64_t first_ns;
    int64_t last_ns;
    float bound_ns;
    /* How late the last rank was meant to come. */
    float delay_ns;
    int32_t last_rank;
    int32_t state;
};

/* One round as this rank saw it: when it should have begun on rank 0's clock, and when it began and ended on its own. */
struct moment {
    int64_t common_ns;
    int64_t begin_ns;
    int64_t end_ns;
    float delay_ns;
    int32_t state;
};

static inline bool is_discarded(const struct start *start, const struct sample *sample) {
    return (sample->state & ROUND_LATE) || (start->discards_overruns && (sample->state & ROUND_OVERRUN));
}

enum stopped { STOPPED_NOT, STOPPED_SAMPLES, STOPPED_TRIES, STOPPED_RSE, STOPPED_INTERVAL, STOPPED_TIME };

struct measurement {
    /* On every rank what it saw, on rank 0 also what all saw together. */
    struct moment *moments;
    struct sample *samples;
    int64_t taken;
    int64_t capacity;
    int64_t late;
    int64_t overrun;
    int64_t valid;
    int64_t synchronisations;
    int32_t repeats;
    /* The first and the last window; 0 where no start is scheduled. */
    int64_t first_window_ns, last_window_ns;
    enum stopped stopped;
};

struct result {
    const char *status;
    char reason[LINE_BYTES];
    struct measurement measurement;
    int64_t sync_bound_ns;
    /* By how much two ranks' clocks may differ more than one from rank 0's, which is exact: twice, if there are two others. */
    double bound_factor;
    int64_t drift_ns;
    /* Which rank went to another CPU meanwhile, in words; empty: none. */
    char moved[NAME_BYTES * 2];
    /* How ranks lie on a grid, and its `order`, which is freed with the result. */
    struct layout layout;
    int *order;
    int ranks;
    /* The rank that alone measures, or SERIES_ALL. */
    int measurer;
    int64_t moved_bytes, moved_messages;
    /* Medians of the communication alone and of the computation alone, where they are to overlap. */
    double pure_ns, compute_ns;
    int64_t growth_bytes, spread_ns;
    /* What the start and the clock's readings take of every time; 0: not known. */
    double cost_ns;
};

struct world {
    /* All ranks, the first two, and as many as make pairs. */
    struct team all, pair, even;
    const struct source *source;
    const struct synchronisation *synchronisation;
    const struct source_fact *sources;
    char why[REASON_BYTES];
    int64_t last_level_cache_bytes;
    bool yields;
    bool every_rank;
    /* Whether each call is timed singly, however short it is beside a reading of the clock. */
    bool each_call;
    bool probes;
    int ranks_on_host;
    /* How many share this rank's last cache. */
    int ranks_on_cache;
};

struct plan {
    const struct operation *operation;
    enum form form;
    const struct start *start;
    const struct wanted *wanted;
    /* Ends with one without a choice. */
    struct chosen chosen[MOST_CHOICES + 1];
};

/* Where rank 0 writes a case: if every rank's samples are wanted, those of one rank after the other. */
struct teller {
    bool wanted;
    FILE *stream;
    int index;
};
/* Runs one case on every rank of the world; the result is complete on rank 0 only. */
struct result run_case(const struct world *world, const struct wanted *wanted, const struct teller *teller);

struct timing {
    const struct team *team;
    const struct world *world;
    const struct operation *operation;
    const struct start *start;
    const struct stop *stop;
    const struct wanted *wanted;
    struct call *call;
    struct buffers *buffers;
    int (*run)(struct call *);
    /* How often a run does what is timed. */
    int rounds;
    /* Ways of a message in a run, of which a sample is one: 2 where a round trip tells a latency. */
    int legs;
    /* How long one run took before anything was timed, where that is all that its time limit allows; else 0. */
    double long_ns;
    /* Whether this rank's times count. */
    bool measures;
    int64_t arrival, spread_ns;
    /* Whether beginnings are compared between ranks, for which their clocks must be. */
    bool compares;
    /* Between stages: new data in buffers that hold nothing else, and a look at what a stage brought; NULL: that tells nothing. */
    void (*renew)(const void *setting);
    void (*look)(const void *setting);
    const void *setting;
    double renewing_ns;
};

/* Returns the first MPI error code of this rank, or MPI_SUCCESS. */
int measure(const struct timing *timing, struct measurement *into);
/* Makes samples of what this rank saw, by what is known of its clock when all is over. */
void score(const struct timing *timing, const struct measurement *measurement, int64_t from, int count, struct sample *into);
/* Makes one sample of a value of every rank, the largest of which counts. */
void take_single(const struct timing *timing, struct measurement *into, double value);
double median_ns(const struct timing *timing, const struct measurement *measurement);

/* stop.c */
enum { MOST_STAGE = 128 };

struct stopping {
    int64_t count;
    double mean, squares;
    int64_t next_look;
};
int64_t most_tries(const struct stop *stop);
void stop_learns(struct stopping *stopping, const struct sample *sample);
/* `step_ns`: by how much two samples differ at least, unless they are equal. */
enum stopped stop_now(struct stopping *stopping, const struct stop *stop, const struct start *start,
                      const struct measurement *so_far, double step_ns);

/* study.c */
int study_clocks(struct world *world, const struct job *job, FILE *stream);

/* The core's own talk, and the memory of its process. */
struct talk {
    int64_t messages;
    int64_t bytes;
    int64_t memory_bytes;
};

/* stream.c */
void write_launch(FILE *stream, const struct launch_fact *launch, const struct world *world);
void write_rank(FILE *stream, int rank, const struct rank_fact *fact);
void write_begin(FILE *stream, int index);
void write_result(FILE *stream, int index, const struct wanted *wanted, const struct result *result);
void write_rank_series(FILE *stream, int rank, const struct sample *samples, const struct result *result);
void end_result(FILE *stream);
void write_end(FILE *stream, int cases, const struct talk *first, const struct talk *most);
void write_string(FILE *out, const char *text);
void write_text(FILE *stream, const char *key, const char *text);
void end_record(FILE *stream);

/* table.c */
void print_head(FILE *out, const struct launch_fact *launch, const struct world *world);
void print_row(FILE *out, const struct wanted *wanted, const struct result *result, bool probes);

#endif
