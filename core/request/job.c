/* Reads the requested cases from the command line, or from a job file with one case per line. */
#define _GNU_SOURCE
#include "request/job.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "base/core.h"
#include "base/op.h"
#include "base/registry.h"
#include "request/error.h"
#include "request/keys.h"
#include "request/sizes.h"

enum { MOST_RUNS = 1000000, MOST_SHARED_VALUES = 63 };

/* A key that an option sets for all cases. */
struct shared_value {
    const char *key, *value;
};

struct arguments {
    struct job *job;
    const char *operations, *forms, *sizes;
    struct shared_value shared_value[MOST_SHARED_VALUES];
    int shared_values;
};

static bool add_case(struct job *job, const struct request *request, char error[LINE_BYTES]) {
    if (!check_request(request, error))
        return false;
    if ((job->cases & (job->cases + 1)) == 0)
        job->requests = extend_memory(job->requests, sizeof *request * 2 * (size_t)(job->cases + 1));
    job->requests[job->cases++] = *request;
    return true;
}

/* --- from the command line --- */

static bool add_sizes(struct job *job, struct request *request, const int64_t *sizes, int count, char error[LINE_BYTES]) {
    const struct operation *operation = find_operation(request->operation);
    const struct datatype *datatype = find_datatype(request->datatype);
    const int before = job->cases;
    if (!operation || !datatype || !operation->data.sized)
        return add_case(job, request, error);
    for (int i = 0; i < count; i++) {
        request->bytes = sizes[i];
        if (sizes[i] % datatype->bytes == 0 && !add_case(job, request, error))
            return false;
    }
    if (job->cases == before)
        return fail(error, "%s: none of the sizes is a whole number of %s of %d bytes", request->operation, datatype->name,
                    datatype->bytes);
    return true;
}

/* With a pattern of operations, only operations that have all given keys are measured. */
struct sweep {
    const struct arguments *arguments;
    const int64_t *sizes;
    int count;
    bool is_pattern;
};

static bool has_form(const struct operation *operation, const char *form) {
    for (int i = 0; i < FORMS; i++)
        if (operation->forms[i] && strcmp(form_names[i], form) == 0)
            return true;
    return false;
}

static bool has_all_keys(const struct operation *operation, const struct arguments *arguments) {
    for (int i = 0; i < arguments->shared_values; i++) {
        const struct shared_value *shared_value = &arguments->shared_value[i];
        const struct datatype *datatype = strcmp(shared_value->key, "datatype") == 0 ? find_datatype(shared_value->value) : NULL;
        if (!is_field(shared_value->key) && !has_choice(operation, shared_value->key))
            return false;
        if (datatype && !accepts_datatype(operation, datatype))
            return false;
    }
    return true;
}

static bool add_forms(struct job *job, struct request *request, const struct sweep *sweep, char error[LINE_BYTES]) {
    const struct operation *operation = find_operation(request->operation);
    const char *forms = sweep->arguments->forms ? sweep->arguments->forms : request->form;
    const bool all = strcmp(forms, "all") == 0;
    char copy[LINE_BYTES], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", all ? "blocking,nonblocking,persistent" : forms);
    for (char *form = strtok_r(copy, ",", &rest); form; form = strtok_r(NULL, ",", &rest)) {
        if (!copy_text(request->form, NAME_BYTES, "form", form, error))
            return false;
        if ((all || sweep->is_pattern) && operation && !has_form(operation, form))
            continue;
        if (!add_sizes(job, request, sweep->sizes, sweep->count, error))
            return false;
    }
    return true;
}

static bool add_operation(struct job *job, const char *name, const struct sweep *sweep, char error[LINE_BYTES]) {
    struct request request;
    if (!begin_request(&request, name, error))
        return false;
    if (!find_operation(name))
        return check_operation(&request, error);
    if (sweep->is_pattern && !has_all_keys(find_operation(name), sweep->arguments))
        return true;
    for (int i = 0; i < sweep->arguments->shared_values; i++)
        if (!set_key(&request, sweep->arguments->shared_value[i].key, sweep->arguments->shared_value[i].value, error))
            return false;
    return add_forms(job, &request, sweep, error);
}

/* `all` means every operation except self-tests; a kind means those of this kind. */
static bool is_named(const struct operation *operation, const char *name) {
    return strcmp(name, "all") == 0 ? operation->kind != KIND_SELF_TEST : strcmp(name, kind_names[operation->kind]) == 0;
}

static bool add_named(struct job *job, const char *name, struct sweep *sweep, char error[LINE_BYTES]) {
    bool is_known = false;
    sweep->is_pattern = true;
    EACH_BY_NAME(operation, unit)
        if (is_named(unit, name)) {
            is_known = true;
            if (!add_operation(job, unit->name, sweep, error))
                return false;
        }
    sweep->is_pattern = false;
    return is_known || add_operation(job, name, sweep, error);
}

/* The message of a check has the largest of the sizes. */
static bool read_check_bytes(struct job *job, const struct arguments *arguments, char error[LINE_BYTES]) {
    int64_t sizes[MOST_SIZES];
    int count = 0;
    if (!parse_sizes(arguments->sizes ? arguments->sizes : "64K", sizes, &count, error))
        return false;
    for (int i = 0; i < count; i++)
        job->check_bytes = sizes[i] > job->check_bytes ? sizes[i] : job->check_bytes;
    return job->check_bytes <= INT32_MAX || fail(error, "--check: --sizes: at most %d bytes", INT32_MAX);
}

static bool add_cases(struct job *job, const struct arguments *arguments, char error[LINE_BYTES]) {
    int64_t sizes[MOST_SIZES];
    struct sweep sweep = {.arguments = arguments, .sizes = sizes};
    char copy[LINE_BYTES], *rest = NULL;
    if (!arguments->operations)
        return fail(error, "nothing to measure: name an operation with --op, or a job with --job (--help shows more)");
    if (!parse_sizes(arguments->sizes ? arguments->sizes : job->probe ? "64" : "8:1M:x4", sizes, &sweep.count, error))
        return false;
    snprintf(copy, sizeof copy, "%s", arguments->operations);
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
        if (!add_named(job, name, &sweep, error))
            return false;
    return job->cases > 0 ||
           fail(error, "nothing to measure: no operation of %s has all requested options", arguments->operations);
}

/* --- from a job file --- */

static bool read_token(struct request *request, char *token, char error[LINE_BYTES]) {
    char *value = strchr(token, '=');
    if (!value)
        return fail(error, "'%s' is not key=value", token);
    *value++ = '\0';
    return set_key(request, token, value, error);
}

static bool read_patience(struct job *job, const char *value, char error[LINE_BYTES]) {
    char *end;
    job->patience_s = strtod(value, &end);
    return (end != value && !*end && job->patience_s > 0) || fail(error, "patience: '%s' is not a number above 0", value);
}

/* A setting of the whole job: `set clock=tsc sync=tree ranks=all calls=each`. */
static bool read_setting(struct job *job, char *token, char error[LINE_BYTES]) {
    char *value = strchr(token, '=');
    if (!value)
        return fail(error, "'%s' is not key=value", token);
    *value++ = '\0';
    if (strcmp(token, "clock") == 0)
        return copy_text(job->source, sizeof job->source, token, value, error);
    if (strcmp(token, "sync") == 0)
        return copy_text(job->synchronisation, sizeof job->synchronisation, token, value, error);
    if (strcmp(token, "ranks") == 0 && strcmp(value, "all") == 0)
        job->every_rank = true;
    else if (strcmp(token, "calls") == 0 && strcmp(value, "each") == 0)
        job->each_call = true;
    else if (strcmp(token, "patience") == 0)
        return read_patience(job, value, error);
    else
        return fail(error,
                    "setting '%s=%s' is not known (allowed: clock=NAME, sync=NAME, ranks=all, calls=each, patience=SECONDS)",
                    token, value);
    return true;
}

static bool read_settings(struct job *job, char *line, char error[LINE_BYTES]) {
    char *rest = NULL;
    for (char *token = strtok_r(line, " ", &rest); token; token = strtok_r(NULL, " ", &rest))
        if (!read_setting(job, token, error))
            return false;
    return true;
}

static bool read_pass(struct job *job, const char *value, char error[LINE_BYTES]) {
    char *end;
    const long turns = strtol(value, &end, 10);
    job->idle += (int)turns;
    return (end != value && !*end && turns > 0 && turns <= INT16_MAX) ||
           fail(error, "pass: '%s' is not a number of turns", value);
}

static bool read_line(struct job *job, char *line, char error[LINE_BYTES]) {
    const char *const lead = "case operation=";
    char *rest = NULL;
    line[strcspn(line, "\n")] = '\0';
    if (*line == '\0' || *line == '#')
        return true;
    if (strncmp(line, "set ", 4) == 0)
        return read_settings(job, line + 4, error);
    if (strncmp(line, "pass ", 5) == 0)
        return read_pass(job, line + 5, error);
    if (strncmp(line, lead, strlen(lead)) != 0)
        return fail(error, "a line begins with '%s', this one with '%.40s'", lead, line);
    const char *name = strtok_r(line + strlen(lead), " ", &rest);
    struct request request;
    if (!begin_request(&request, name ? name : "", error))
        return false;
    for (char *token = strtok_r(NULL, " ", &rest); token; token = strtok_r(NULL, " ", &rest))
        if (!read_token(&request, token, error))
            return false;
    request.idle = job->idle;
    job->idle = 0;
    return add_case(job, &request, error);
}

static bool read_file(struct job *job, const char *path, char error[LINE_BYTES]) {
    char *line = NULL, reason[LINE_BYTES];
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(error, "--job %s: %s", path, strerror(errno));
    bool good = getline(&line, &room, file) > 0 && strcmp(line, "rankbench-job 1\n") == 0;
    if (!good)
        fail(error, "--job %s line 1: not 'rankbench-job 1'", path);
    for (int number = 2; good && getline(&line, &room, file) > 0; number++)
        if (!read_line(job, line, reason))
            good = fail(error, "--job %s line %d: %.*s", path, number, LINE_BYTES / 2, reason);
    free(line);
    fclose(file);
    if (good && job->cases == 0)
        return fail(error, "--job %s: no case in it", path);
    return good;
}

/* --- options --- */

/* An option, and where its value goes: a member of the job or of the arguments, or a key of the cases. */
struct job_option {
    const char *name;
    const char *value;
    const char *help;
    enum { SWITCH, COUNT, SECONDS, COPY, LIST, KEY, CHOICE } kind;
    size_t place, room;
    const char *key;
};

#define OF_JOB(kind_, member) .kind = kind_, .place = offsetof(struct job, member)
#define TEXT_OF_JOB(member) OF_JOB(COPY, member), .room = sizeof((struct job *)NULL)->member
#define OF_ARGUMENTS(member) .kind = LIST, .place = offsetof(struct arguments, member)
#define OF_CASES(key_) .kind = KEY, .key = key_

static const struct job_option options[] = {
    {"--op", "NAME[,NAME...]", "operations to time, kinds of them, or all", OF_ARGUMENTS(operations)},
    {"--form", "NAME[,NAME...]", "blocking, nonblocking, persistent, or all; default: that of each operation",
     OF_ARGUMENTS(forms)},
    {"--with", "NAME=VALUE", "an option of the operation, such as epoch=fence; --describe lists all", .kind = CHOICE},
    {"--sizes", "SIZES", "message sizes in bytes: 8, 64K, 8:1M (doubling), 8:1M:x4, or a list of these", OF_ARGUMENTS(sizes)},
    {"--datatype", "NAME", "byte, int, float, double, or a derived one, listed below", OF_CASES("datatype")},
    {"--start", "NAME", "how ranks start each call; default: that of each operation", OF_CASES("start")},
    {"--cache", "NAME",
     "warm: buffers are reused; cold: they rotate through more memory than the last-level cache; written: before "
     "each call a rank writes what it sends, and reads what it received",
     OF_CASES("cache")},
    {"--buffers", "NAME", "separate, or in-place", OF_CASES("buffers")},
    {"--pages", "NAME", "touched, untouched (new for every call) or huge", OF_CASES("pages")},
    {"--settings", "VARIABLE=VALUE;...", "control variables of the library (MPI_T) for these cases", OF_CASES("settings")},
    {"--alignment", "BYTES", "of the buffers, a power of two; default: a page, or a cache line with --cache cold",
     OF_CASES("alignment")},
    {"--root", "RANK", "root of rooted operations (0); -1: it changes with every call", OF_CASES("root")},
    {"--samples", "N", "end a case after N valid samples (1000)", OF_CASES("samples")},
    {"--tries", "N", "or after N samples, valid or not", OF_CASES("tries")},
    {"--rse", "SHARE", "or when the relative standard error of the mean is at most this", OF_CASES("rse")},
    {"--interval", "SHARE", "or when half the 95% interval of the median is at most this share of it", OF_CASES("interval")},
    {"--least", "N", "valid samples before --rse or --interval may end a case (10)", OF_CASES("least")},
    {"--fill", "SECONDS", "continue beyond --samples, up to 5 times as many, until this time (0)", OF_CASES("fill_s")},
    {"--limit", "SECONDS", "or after this time (1)", OF_CASES("limit_s")},
    {"--ranks", NULL, "write every rank's samples to the stream, not only the maximum over ranks", OF_JOB(SWITCH, every_rank)},
    {"--each", NULL, "time each call singly, even where several calls per reading of the clock would be more accurate",
     OF_JOB(SWITCH, each_call)},
    {"--clock", "NAME", "time source (auto)", TEXT_OF_JOB(source)},
    {"--sync", "NAME", "clock synchronisation (tree)", TEXT_OF_JOB(synchronisation)},
    {"--separate-clocks", NULL, "synchronise even ranks that read one clock, for tests", OF_JOB(SWITCH, separate_clocks)},
    {"--job", "FILE", "read the cases from a job file, on rank 0 only", TEXT_OF_JOB(file)},
    {"--turns", "PLACE/LAUNCHES/CASES:FILE",
     "measure in turn with launches that share FILE; it holds zeros, or is created if its name has % for the host",
     TEXT_OF_JOB(turns)},
    {"--threads", NULL, "initialise MPI with MPI_THREAD_MULTIPLE, as jobs with threads or that level need",
     OF_JOB(SWITCH, threads)},
    {"--stream", "FILE", "write all results to FILE, as JSON, one record per line", TEXT_OF_JOB(stream)},
    {"--files", "FILE", "write the hashes of the library's files to the stream, also of those that FILE lists",
     TEXT_OF_JOB(files)},
    {"--quiet", NULL, "print no table", OF_JOB(SWITCH, quiet)},
    {"--cvars", NULL, "only list the control variables of the library (MPI_T), as JSON; needs one rank", OF_JOB(SWITCH, cvars)},
    {"--check", NULL, "only check that the ranks form one MPI_COMM_WORLD and that a message of --sizes (64K) arrives",
     OF_JOB(SWITCH, check)},
    {"--probe", NULL, "only check that calls exist and data are right; default: all operations in all forms",
     OF_JOB(SWITCH, probe)},
    {"--clocks", NULL, "only study time sources and synchronisations, those of --clock and --sync or `all`",
     OF_JOB(SWITCH, study)},
    {"--sums", NULL, "only study whether the bits of reductions are the same on all ranks and from call to call",
     OF_JOB(SWITCH, sums)},
    {"--rounds", "FILE", "only measure nodes and the links between them, in the rounds of FILE", TEXT_OF_JOB(rounds)},
    {"--runs", "N", "how often --clocks synchronises (20)", OF_JOB(COUNT, runs)},
    {"--wait", "SECONDS", "wait of --clocks between a synchronisation and its check (0.1)", OF_JOB(SECONDS, wait_s)},
    {"--state", NULL, "only print the state of this machine, as JSON; needs no mpiexec", OF_JOB(SWITCH, state)},
    {"--cpus", "LIST", "CPUs of --state, such as 0,2-5; default: all that it may use", TEXT_OF_JOB(cpus)},
    {"--sysfs", "FOLDER", "read network devices below FOLDER instead of /sys, for tests", TEXT_OF_JOB(sysfs)},
    {"--describe", NULL, "print the operations and options of the core, as JSON; needs no mpiexec", OF_JOB(SWITCH, describe)},
    {"--help", NULL, "print this", OF_JOB(SWITCH, help)},
};

void print_help(FILE *out) {
    fputs("usage: mpiexec -n RANKS rankbench-core --op NAME[,NAME...] [options]\n\n", out);
    for (int i = 0; i < LENGTH(options); i++)
        fprintf(out, "  %-17s %-15s %s\n", options[i].name, options[i].value ? options[i].value : "", options[i].help);
#define PRINT_UNITS(title, kind) \
    fputs("\n" title "\n", out); \
    EACH_BY_NAME(kind, unit) \
    fprintf(out, "  %-27s %s\n", unit->name, unit->help)
    PRINT_UNITS("operations", operation);
    PRINT_UNITS("datatypes", datatype);
    PRINT_UNITS("starts", start);
    PRINT_UNITS("time sources", source);
    PRINT_UNITS("synchronisations", synchronisation);
}

static const struct job_option *find_option(const char *name) {
    for (int i = 0; i < LENGTH(options); i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static bool read_number(const char *name, const char *value, double *number, char error[LINE_BYTES]) {
    char *end;
    *number = strtod(value, &end);
    return (end != value && !*end && *number > 0) || fail(error, "%s: '%s' is not a number above 0", name, value);
}

static bool add_shared_value(struct arguments *arguments, const char *key, const char *value, char error[LINE_BYTES]) {
    if (arguments->shared_values == MOST_SHARED_VALUES)
        return fail(error, "more than %d options of the cases; put cases into a job file (--job)", MOST_SHARED_VALUES);
    arguments->shared_value[arguments->shared_values++] = (struct shared_value){key, value};
    return true;
}

static bool read_choice_option(struct arguments *arguments, const char *text, char error[LINE_BYTES]) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return fail(error, "--with: '%s' is not NAME=VALUE", text);
    const size_t length = (size_t)(equals - text);
    return add_shared_value(arguments, memcpy(obtain_memory(length + 1), text, length), equals + 1, error);
}

static bool read_option(struct arguments *arguments, const struct job_option *option, const char *value, char error[LINE_BYTES]) {
    void *const into = (char *)arguments->job + option->place;
    double number;
    switch (option->kind) {
    case KEY:
        return add_shared_value(arguments, option->key, value, error);
    case CHOICE:
        return read_choice_option(arguments, value, error);
    case LIST:
        *(const char **)(void *)((char *)arguments + option->place) = value;
        return true;
    case COPY:
        return copy_text(into, option->room, option->name, value, error);
    case SWITCH:
        *(bool *)into = true;
        return true;
    default:
        break;
    }
    if (!read_number(option->name, value, &number, error))
        return false;
    if (option->kind == COUNT)
        *(int64_t *)into = number < MOST_RUNS ? (int64_t)number : MOST_RUNS;
    else
        *(double *)into = number;
    return true;
}

static bool read_options(int argc, char **argv, struct arguments *arguments, char error[LINE_BYTES]) {
    for (int i = 1; i < argc; i++) {
        const struct job_option *option = find_option(argv[i]);
        if (!option)
            return fail(error, "option '%s' is not known (--help lists all)", argv[i]);
        if (option->value && i + 1 == argc)
            return fail(error, "%s needs a value: %s", option->name, option->value);
        if (option->value && strlen(argv[++i]) >= LINE_BYTES)
            return fail(error, "%s: a value of more than %d characters", option->name, LINE_BYTES - 1);
        if (!read_option(arguments, option, argv[i], error))
            return false;
    }
    return true;
}

static bool check_names(const struct job *job, char error[LINE_BYTES]) {
    char names[LINE_BYTES] = "";
    NAMES(source, names);
    if (!find_source(job->source) && strcmp(job->source, job->study ? "all" : "auto") != 0 && strcmp(job->source, "auto") != 0)
        return fail(error, "time source '%s' is not known (allowed: auto, %.400s)", job->source, names);
    *names = '\0';
    NAMES(synchronisation, names);
    if (!find_synchronisation(job->synchronisation) && !(job->study && strcmp(job->synchronisation, "all") == 0))
        return fail(error, "synchronisation '%s' is not known (allowed: %.400s)", job->synchronisation, names);
    return true;
}

bool read_arguments(int argc, char **argv, struct job *job, char error[LINE_BYTES]) {
    struct arguments arguments = {.job = job};
    *job = (struct job){.source = "auto", .synchronisation = "tree", .runs = 20, .wait_s = 0.1, .patience_s = 45};
    if (!read_options(argc, argv, &arguments, error))
        return false;
    const bool by_file = *job->file != '\0';
    job->by_hand = !by_file && !job->probe;
    if (job->probe && !arguments.operations && !by_file)
        arguments.operations = "all", arguments.forms = "all";
    if (job->describe || job->help || job->state || job->cvars)
        return true;
    if (job->check && !read_check_bytes(job, &arguments, error))
        return false;
    if (!job->check && !job->study && !job->sums && !*job->rounds && !by_file && !add_cases(job, &arguments, error))
        return false;
    for (int i = 0; i < job->cases; i++)
        job->threads |= read_requested_choice(&job->requests[i], &threads_choice) > 1 ||
                        read_requested_choice(&job->requests[i], &level_choice) == LEVEL_MULTIPLE;
    return check_names(job, error);
}

bool read_job(struct job *job, char error[LINE_BYTES]) {
    return *job->file == '\0' || (read_file(job, job->file, error) && check_names(job, error));
}
