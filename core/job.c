/* What is to be measured: from the command line, or from a job file with one case a line. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { MOST_SIZES = 1024 };

struct arguments {
    const char *operations, *forms, *sizes, *datatype, *start, *job;
    int64_t samples;
    double limit_s;
};

/* Always false, so that a check can end with `return fail(...)`. */
static bool fail(char error[LINE_BYTES], const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(error, LINE_BYTES, format, values);
    va_end(values);
    return false;
}

#define NAMES(kind, into) \
    do { \
        for (const struct kind *const *unit = __start_rb_##kind; unit < __stop_rb_##kind; unit++) \
            snprintf((into) + strlen(into), LINE_BYTES - strlen(into), "%s%s", *(into) ? ", " : "", (*unit)->name); \
    } while (0)

static bool check_operation(const struct wanted *wanted, char error[LINE_BYTES]) {
    const struct operation *operation = find_operation(wanted->operation);
    char names[LINE_BYTES] = "";
    if (!operation) {
        NAMES(operation, names);
        return fail(error, "operation '%s' is not known (allowed: %.400s)", wanted->operation, names);
    }
    for (int form = 0; form < FORMS; form++)
        if (operation->forms[form] && strcmp(form_names[form], wanted->form) == 0)
            return true;
    return fail(error, "%s has no form '%s' (blocking, nonblocking and persistent are forms; not every operation has all)",
                wanted->operation, wanted->form);
}

static bool check_datatype(const struct wanted *wanted, char error[LINE_BYTES]) {
    const struct datatype *datatype = find_datatype(wanted->datatype);
    if (!datatype)
        return fail(error, "datatype '%s' is not known (allowed: byte, int, float, double)", wanted->datatype);
    if (find_operation(wanted->operation)->reduces && datatype->type == MPI_BYTE)
        return fail(error, "%s: bytes cannot be summed (use int, float or double)", wanted->operation);
    if (wanted->bytes < 0 || wanted->bytes % datatype->bytes != 0)
        return fail(error, "%s: %lld bytes is not a whole number of %s of %d bytes", wanted->operation,
                    (long long)wanted->bytes, datatype->name, datatype->bytes);
    return true;
}

static bool check_wanted(const struct wanted *wanted, char error[LINE_BYTES]) {
    char names[LINE_BYTES] = "";
    if (!check_operation(wanted, error) || !check_datatype(wanted, error))
        return false;
    NAMES(start, names);
    if (!find_start(wanted->start))
        return fail(error, "start '%s' is not known (allowed: %.400s)", wanted->start, names);
    if (wanted->samples < 1 || wanted->samples > MOST_SAMPLES)
        return fail(error, "%s: samples must be 1 to %d", wanted->operation, MOST_SAMPLES);
    if (!(wanted->limit_s > 0))
        return fail(error, "%s: limit_s must be more than 0", wanted->operation);
    return true;
}

static bool add_case(struct job *job, const struct wanted *wanted, char error[LINE_BYTES]) {
    if (!check_wanted(wanted, error))
        return false;
    if ((job->cases & (job->cases + 1)) == 0)
        job->wanted = realloc(job->wanted, sizeof *wanted * 2 * (size_t)(job->cases + 1));
    job->wanted[job->cases++] = *wanted;
    return true;
}

/* What a case is when nothing else is said of it. */
static struct wanted usual(const char *operation_name) {
    struct wanted wanted = {.samples = 1000, .limit_s = 1.0};
    const struct operation *operation = find_operation(operation_name);
    snprintf(wanted.operation, NAME_BYTES, "%s", operation_name);
    if (!operation)
        return wanted;
    for (int form = FORMS - 1; form >= 0; form--)
        if (operation->forms[form])
            snprintf(wanted.form, NAME_BYTES, "%s", form_names[form]);
    snprintf(wanted.datatype, NAME_BYTES, "%s", default_datatype(operation));
    snprintf(wanted.start, NAME_BYTES, "%s", operation->start);
    return wanted;
}

/* --- sizes --- */

static bool parse_size(const char *text, int64_t *bytes, char **end) {
    const char *const units = "KMG";
    errno = 0;
    *bytes = strtoll(text, end, 10);
    if (*end == text || *bytes < 0 || errno)
        return false;
    const char *unit = **end ? strchr(units, toupper((unsigned char)**end)) : NULL;
    if (unit) {
        const int shift = 10 * (int)(unit - units + 1);
        if (*bytes > INT64_MAX >> shift)
            return false;
        *bytes <<= shift;
        ++*end;
    }
    return true;
}

/* One item of a list: `8`, `8:1M` (doubling) or `8:1M:x4`. */
static bool parse_range(const char *text, int64_t *sizes, int *count) {
    int64_t first, last;
    long factor = 2;
    char *end;
    if (!parse_size(text, &first, &end))
        return false;
    last = first;
    if (*end == ':' && !parse_size(end + 1, &last, &end))
        return false;
    if (*end == ':' && end[1] == 'x')
        factor = strtol(end + 2, &end, 10);
    if (*end || factor < 2 || last < first || (first == 0 && last > 0))
        return false;
    for (int64_t size = first; size <= last; size *= factor) {
        if (*count == MOST_SIZES)
            return false;
        sizes[(*count)++] = size;
        if (size == 0 || size > last / factor)
            break;
    }
    return true;
}

static bool parse_sizes(const char *text, int64_t *sizes, int *count, char error[LINE_BYTES]) {
    char copy[LINE_BYTES];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *item = strtok(copy, ","); item; item = strtok(NULL, ","))
        if (!parse_range(item, sizes, count))
            return fail(error, "--sizes: '%s' is not a size or range such as 8, 64K, 8:1M or 8:1M:x4", item);
    if (*count == 0)
        return fail(error, "--sizes: no size given (for instance 8:1M)");
    return true;
}

/* --- from the command line --- */

static bool add_sizes(struct job *job, struct wanted *wanted, const int64_t *sizes, int count, char error[LINE_BYTES]) {
    const struct operation *operation = find_operation(wanted->operation);
    const struct datatype *datatype = find_datatype(wanted->datatype);
    const int before = job->cases;
    if (!operation || !datatype || !operation->sized)
        return add_case(job, wanted, error);
    for (int i = 0; i < count; i++) {
        wanted->bytes = sizes[i];
        if (sizes[i] % datatype->bytes == 0 && !add_case(job, wanted, error))
            return false;
    }
    if (job->cases == before)
        return fail(error, "%s: none of the sizes is a whole number of %s of %d bytes", wanted->operation, datatype->name,
                    datatype->bytes);
    return true;
}

static bool add_forms(struct job *job, struct wanted *wanted, const struct arguments *given, const int64_t *sizes, int count,
                      char error[LINE_BYTES]) {
    char copy[LINE_BYTES], *rest = NULL;
    if (!given->forms)
        return add_sizes(job, wanted, sizes, count, error);
    snprintf(copy, sizeof copy, "%s", given->forms);
    for (char *form = strtok_r(copy, ",", &rest); form; form = strtok_r(NULL, ",", &rest)) {
        snprintf(wanted->form, NAME_BYTES, "%s", form);
        if (!add_sizes(job, wanted, sizes, count, error))
            return false;
    }
    return true;
}

static bool expand(struct job *job, const struct arguments *given, char error[LINE_BYTES]) {
    int64_t sizes[MOST_SIZES];
    int count = 0;
    char copy[LINE_BYTES], *rest = NULL;
    if (!given->operations)
        return fail(error, "nothing to measure: name an operation with --op, or a job with --job (--help tells more)");
    if (!parse_sizes(given->sizes ? given->sizes : "8:1M:x4", sizes, &count, error))
        return false;
    snprintf(copy, sizeof copy, "%s", given->operations);
    for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        struct wanted wanted = usual(name);
        wanted.samples = given->samples;
        wanted.limit_s = given->limit_s;
        if (given->datatype)
            snprintf(wanted.datatype, NAME_BYTES, "%s", given->datatype);
        if (given->start)
            snprintf(wanted.start, NAME_BYTES, "%s", given->start);
        if (!add_forms(job, &wanted, given, sizes, count, error))
            return false;
    }
    return true;
}

/* --- from a job file --- */

static bool take_token(struct wanted *wanted, char *token, char error[LINE_BYTES]) {
    char *value = strchr(token, '='), *end = "";
    if (!value)
        return fail(error, "'%s' is not key=value", token);
    *value++ = '\0';
    const struct { const char *key; char *into; } texts[] = {
        {"form", wanted->form}, {"datatype", wanted->datatype}, {"start", wanted->start}};
    for (int i = 0; i < LENGTH(texts); i++)
        if (strcmp(token, texts[i].key) == 0) {
            snprintf(texts[i].into, NAME_BYTES, "%s", value);
            return true;
        }
    if (strcmp(token, "bytes") == 0)
        wanted->bytes = strtoll(value, &end, 10);
    else if (strcmp(token, "samples") == 0)
        wanted->samples = strtoll(value, &end, 10);
    else if (strcmp(token, "limit_s") == 0)
        wanted->limit_s = strtod(value, &end);
    else
        return fail(error, "key '%s' is not known (allowed: operation, form, bytes, datatype, start, samples, limit_s)", token);
    return *end && *value ? fail(error, "%s: '%s' is not a number", token, value) : true;
}

static bool take_line(struct job *job, char *line, char error[LINE_BYTES]) {
    const char *const lead = "case operation=";
    char *rest = NULL;
    line[strcspn(line, "\n")] = '\0';
    if (*line == '\0' || *line == '#')
        return true;
    if (strncmp(line, lead, strlen(lead)) != 0)
        return fail(error, "a line begins with '%s', this one with '%.40s'", lead, line);
    const char *name = strtok_r(line + strlen(lead), " ", &rest);
    struct wanted wanted = usual(name ? name : "");
    for (char *token = strtok_r(NULL, " ", &rest); token; token = strtok_r(NULL, " ", &rest))
        if (!take_token(&wanted, token, error))
            return false;
    return add_case(job, &wanted, error);
}

static bool read_file(struct job *job, const char *path, char error[LINE_BYTES]) {
    char line[LINE_BYTES], reason[LINE_BYTES];
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(error, "--job %s: %s", path, strerror(errno));
    bool good = fgets(line, sizeof line, file) && strcmp(line, "rankbench-job 1\n") == 0;
    if (!good)
        fail(error, "--job %s line 1: not 'rankbench-job 1'", path);
    for (int number = 2; good && fgets(line, sizeof line, file); number++)
        if (!take_line(job, line, reason))
            good = fail(error, "--job %s line %d: %.*s", path, number, LINE_BYTES / 2, reason);
    fclose(file);
    if (good && job->cases == 0)
        return fail(error, "--job %s: no case in it", path);
    return good;
}

/* --- options --- */

struct option {
    const char *name;
    const char *value;
    const char *help;
};

static const struct option options[] = {
    {"--op", "NAME[,NAME...]", "operations to time"},
    {"--form", "NAME[,NAME...]", "blocking, nonblocking, persistent; else each operation's first"},
    {"--sizes", "SIZES", "message sizes in bytes: 8, 64K, 8:1M (doubling), 8:1M:x4, or a list of these"},
    {"--datatype", "NAME", "byte, int, float or double"},
    {"--start", "NAME", "how ranks begin together; else as suits the operation"},
    {"--samples", "N", "valid samples wanted of each case (1000)"},
    {"--limit", "SECONDS", "longest time for one case (1)"},
    {"--clock", "NAME", "time source (clock_gettime)"},
    {"--sync", "NAME", "clock synchronisation (linear)"},
    {"--job", "FILE", "read the cases from a job file"},
    {"--stream", "FILE", "write everything measured to FILE, as JSON, one record a line"},
    {"--quiet", NULL, "print no table"},
    {"--check", NULL, "only check that the ranks form one world and that data arrive right"},
    {"--describe", NULL, "print what the core can time, as JSON; needs no mpiexec"},
    {"--help", NULL, "print this"},
};

void print_help(FILE *out) {
    fputs("usage: mpiexec -n RANKS rankbench-core --op NAME[,NAME...] [options]\n\n", out);
    for (int i = 0; i < LENGTH(options); i++)
        fprintf(out, "  %-10s %-15s %s\n", options[i].name, options[i].value ? options[i].value : "", options[i].help);
    fputs("\noperations\n", out);
    for (const struct operation *const *unit = __start_rb_operation; unit < __stop_rb_operation; unit++)
        fprintf(out, "  %-15s %s\n", (*unit)->name, (*unit)->help);
    fputs("\nstarts\n", out);
    for (const struct start *const *unit = __start_rb_start; unit < __stop_rb_start; unit++)
        fprintf(out, "  %-15s %s\n", (*unit)->name, (*unit)->help);
}

static const struct option *find_option(const char *name) {
    for (int i = 0; i < LENGTH(options); i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static bool take_number(const char *name, const char *value, double *number, char error[LINE_BYTES]) {
    char *end;
    *number = strtod(value, &end);
    if (end == value || *end || !(*number > 0))
        return fail(error, "%s: '%s' is not a number above 0", name, value);
    return true;
}

static bool take_value(struct job *job, struct arguments *given, const char *name, const char *value, char error[LINE_BYTES]) {
    const struct { const char *name; const char **into; } texts[] = {
        {"--op", &given->operations}, {"--form", &given->forms}, {"--sizes", &given->sizes}, {"--start", &given->start},
        {"--datatype", &given->datatype}, {"--job", &given->job}};
    double number = 1;
    for (int i = 0; i < LENGTH(texts); i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].into = value;
            return true;
        }
    if (strcmp(name, "--stream") == 0)
        snprintf(job->stream, sizeof job->stream, "%s", value);
    else if (strcmp(name, "--clock") == 0)
        snprintf(job->source, sizeof job->source, "%s", value);
    else if (strcmp(name, "--sync") == 0)
        snprintf(job->synchronisation, sizeof job->synchronisation, "%s", value);
    else if (!take_number(name, value, &number, error))
        return false;
    else if (strcmp(name, "--samples") == 0)
        given->samples = number > MOST_SAMPLES ? MOST_SAMPLES + 1 : (int64_t)number;
    else
        given->limit_s = number;
    return true;
}

static bool take_arguments(int argc, char **argv, struct job *job, struct arguments *given, char error[LINE_BYTES]) {
    for (int i = 1; i < argc; i++) {
        const struct option *option = find_option(argv[i]);
        if (!option)
            return fail(error, "option '%s' is not known (--help lists all)", argv[i]);
        if (option->value && i + 1 < argc && strlen(argv[i + 1]) >= LINE_BYTES)
            return fail(error, "%s: a value of more than %d characters", option->name, LINE_BYTES - 1);
        if (option->value && i + 1 == argc)
            return fail(error, "%s needs a value: %s", option->name, option->value);
        if (option->value && !take_value(job, given, option->name, argv[++i], error))
            return false;
        job->quiet |= strcmp(option->name, "--quiet") == 0;
        job->check |= strcmp(option->name, "--check") == 0;
        job->describe |= strcmp(option->name, "--describe") == 0;
        job->help |= strcmp(option->name, "--help") == 0;
    }
    return true;
}

bool read_job(int argc, char **argv, struct job *job, char error[LINE_BYTES]) {
    struct arguments given = {.samples = 1000, .limit_s = 1.0};
    *job = (struct job){.source = "clock_gettime", .synchronisation = "linear"};
    if (!take_arguments(argc, argv, job, &given, error))
        return false;
    if (!find_source(job->source))
        return fail(error, "--clock: time source '%s' is not known (--describe lists all)", job->source);
    if (!find_synchronisation(job->synchronisation))
        return fail(error, "--sync: '%s' is not known (--describe lists all)", job->synchronisation);
    if (job->describe || job->help || job->check)
        return true;
    job->by_hand = !given.job;
    return given.job ? read_file(job, given.job, error) : expand(job, &given, error);
}
