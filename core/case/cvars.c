/* MPI_T gives the type of a variable and, for some, a list of named values (MPI_T_enum). MPICH and its derivatives have
 * no such lists: their names are lines of the description, `ring - Force ring algorithm`, numbered from 0 in that
 * order. MPICH 4.0 has no line breaks there: `... selection algorithmring    - Force ring algorithm`. */
#include "case/cvars.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/op.h"
#include "output/stream.h"

enum { TEXT_BYTES = 8192 };

struct cvar {
    int index;
    int verbosity, scope, bind;
    char name[256];
    char description[TEXT_BYTES];
    MPI_Datatype type;
    MPI_T_enum names;
};

union value {
    char text[TEXT_BYTES];
    unsigned char bytes[TEXT_BYTES];
    int32_t narrow;
    int64_t wide;
    double real;
};

/* A variable that was set, and its value before. */
struct setting {
    MPI_T_cvar_handle handle;
    union value before;
};

struct cvars {
    int count;
    struct setting settings[];
};

static bool start_tools(void) {
    static bool started = false;
    int provided;
    started = started || MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
    return started;
}

static bool read_cvar(int index, struct cvar *cvar) {
    int name_bytes = sizeof cvar->name, text_bytes = sizeof cvar->description;
    *cvar = (struct cvar){.index = index};
    return MPI_T_cvar_get_info(index, cvar->name, &name_bytes, &cvar->verbosity, &cvar->type, &cvar->names, cvar->description,
                               &text_bytes, &cvar->bind, &cvar->scope) == MPI_SUCCESS;
}

static bool find_cvar(const char *name, struct cvar *cvar) {
    int count = 0;
    MPI_T_cvar_get_num(&count);
    for (int i = 0; i < count; i++)
        if (read_cvar(i, cvar) && strcmp(cvar->name, name) == 0)
            return true;
    return false;
}

/* --- values by name --- */

typedef bool visit_function(void *context, const char *name, int64_t number);

static bool visit_enum(MPI_T_enum names, visit_function *visit, void *context) {
    char name[256];
    int count = 0, length = sizeof name;
    if (MPI_T_enum_get_info(names, &count, name, &length) != MPI_SUCCESS)
        return false;
    for (int i = 0; i < count; i++) {
        int number;
        length = sizeof name;
        if (MPI_T_enum_get_item(names, i, &number, name, &length) == MPI_SUCCESS && visit(context, name, number))
            return true;
    }
    return false;
}

/* The name at the start of a line that continues with ` - `, else an empty one. */
static void parse_name(const char *line, char name[NAME_BYTES]) {
    const size_t length = strcspn(line, " \t\n");
    const char *after = line + length + strspn(line + length, " \t");
    *name = '\0';
    if (length > 0 && length < NAME_BYTES && strncmp(after, "- ", 2) == 0)
        snprintf(name, NAME_BYTES, "%.*s", (int)length, line);
}

static bool visit_lines(const char *description, visit_function *visit, void *context) {
    char name[NAME_BYTES];
    int64_t number = 0;
    for (const char *line = strchr(description, '\n'); line; line = strchr(line, '\n')) {
        parse_name(++line, name);
        if (*name && visit(context, name, number++))
            return true;
    }
    return false;
}

/* Last words of lines in descriptions without line breaks; `algorithms` only after `-based `. */
static const char *const line_ends[] = {"algorithm", "collectives", "primitives", "phase",  "receives",  "Tree",
                                        "Allgather", "error",       "bcast",      "reduce", "allreduce", "barrier"};

/* The name at the end of a word that begins with the last word of a line. */
static const char *skip_line_end(const char *text, const char *word, size_t length) {
    const bool plural = word - text > 7 && strncmp(word - 7, "-based ", 7) == 0;
    for (size_t i = 0; i < sizeof line_ends / sizeof *line_ends; i++) {
        const size_t bytes = strlen(line_ends[i]) + (i == 0 && plural);
        if (bytes < length && strncmp(word, line_ends[i], strlen(line_ends[i])) == 0)
            return word + bytes;
    }
    return word;
}

static bool is_name_character(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool visit_joined_lines(const char *text, visit_function *visit, void *context) {
    char name[NAME_BYTES];
    int64_t number = 0;
    for (const char *dash = strstr(text, " - "); dash; dash = strstr(dash + 1, " - ")) {
        const char *end = dash, *word;
        while (end > text && end[-1] == ' ')
            end--;
        for (word = end; word > text && is_name_character(word[-1]);)
            word--;
        word = skip_line_end(text, word, (size_t)(end - word));
        snprintf(name, NAME_BYTES, "%.*s", (int)(end - word), word);
        if (*name && visit(context, name, number++))
            return true;
    }
    return false;
}

static bool visit_names(const struct cvar *cvar, visit_function *visit, void *context) {
    if (cvar->type == MPI_CHAR)
        return false;
    if (cvar->names != MPI_T_ENUM_NULL)
        return visit_enum(cvar->names, visit, context);
    if (strchr(cvar->description, '\n') || strncmp(cvar->description, "Variable to ", 12) != 0)
        return visit_lines(cvar->description, visit, context);
    return visit_joined_lines(cvar->description, visit, context);
}

struct search {
    const char *name;
    int64_t number;
};

static bool compare_name(void *context, const char *name, int64_t number) {
    struct search *search = context;
    search->number = number;
    return strcmp(name, search->name) == 0;
}

/* --- reading and writing --- */

static int count_bytes(const struct cvar *cvar) {
    int bytes = 0;
    MPI_Type_size(cvar->type, &bytes);
    return bytes;
}

/* The elements of a text are characters; Open MPI always reports 2048. */
static bool has_room_for(const struct cvar *cvar, int count) {
    return count <= TEXT_BYTES / (count_bytes(cvar) > 0 ? count_bytes(cvar) : 1);
}

/* Returns false if the text is not a value of the variable. */
static bool parse_cvar_value(const struct cvar *cvar, const char *text, union value *value) {
    struct search search = {text, 0};
    char *end = "";
    memset(value, 0, sizeof *value);
    if (cvar->type == MPI_CHAR) {
        snprintf(value->text, sizeof value->text, "%s", text);
        return true;
    }
    if (cvar->type == MPI_DOUBLE) {
        value->real = strtod(text, &end);
        return *text && !*end;
    }
    if (!visit_names(cvar, compare_name, &search))
        search.number = strtoll(text, &end, 10);
    if (count_bytes(cvar) == sizeof value->wide)
        value->wide = search.number;
    else if (count_bytes(cvar) == sizeof value->narrow)
        value->narrow = (int32_t)search.number;
    else
        value->bytes[0] = (unsigned char)search.number;
    return *text && !*end;
}

static bool is_same(const struct cvar *cvar, const union value *first, const union value *other) {
    return cvar->type == MPI_CHAR ? strcmp(first->text, other->text) == 0 : memcmp(first, other, (size_t)count_bytes(cvar)) == 0;
}

static void restore_value(struct setting *setting) {
    MPI_T_cvar_write(setting->handle, &setting->before);
    MPI_T_cvar_handle_free(&setting->handle);
}

/* A library may take another value than the one it was given, or return an error after it has taken it. */
static bool write_value(const struct cvar *cvar, const union value *value, MPI_T_cvar_handle handle) {
    union value after;
    memset(&after, 0, sizeof after);
    return MPI_T_cvar_write(handle, value) == MPI_SUCCESS && MPI_T_cvar_read(handle, &after) == MPI_SUCCESS &&
           is_same(cvar, value, &after);
}

static bool set_value(const struct cvar *cvar, const union value *value, struct setting *setting) {
    int count = 0;
    if (MPI_T_cvar_handle_alloc(cvar->index, NULL, &setting->handle, &count) != MPI_SUCCESS)
        return false;
    if (!has_room_for(cvar, count) || MPI_T_cvar_read(setting->handle, &setting->before) != MPI_SUCCESS) {
        MPI_T_cvar_handle_free(&setting->handle);
        return false;
    }
    if (write_value(cvar, value, setting->handle))
        return true;
    restore_value(setting);
    return false;
}

/* MPICH and its derivatives bind the handle of a text to its default: reading never shows the value of the environment,
 * and writing has no effect. */
static bool is_only_a_default(const struct cvar *cvar) {
    static const char *const prefixes[] = {"MPIR_CVAR_", "I_MPI_", "MVP_"};
    for (size_t i = 0; cvar->type == MPI_CHAR && i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(cvar->name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void set_cvar(const char *name, const char *text, struct cvars *cvars, struct outcome *outcome) {
    struct cvar *cvar = obtain_memory(sizeof *cvar);
    union value *value = obtain_memory(sizeof *value);
    if (!find_cvar(name, cvar))
        note(outcome, LACKING, "this library has no variable %.150s", name);
    else if (is_only_a_default(cvar))
        note(outcome, LACKING, "%.150s is a text, which this library reads from the environment only, at its start", name);
    else if (!parse_cvar_value(cvar, text, value))
        note(outcome, LACKING, "%.100s has no value %.60s in this library", name, text);
    else if (!set_value(cvar, value, &cvars->settings[cvars->count]))
        note(outcome, LACKING, "%.100s: the library does not accept the value %.60s while it runs", name, text);
    else
        cvars->count++;
    free(value);
    free(cvar);
}

static size_t count_items(const char *text) {
    size_t items = 1;
    for (; *text; text++)
        items += *text == ';';
    return items;
}

struct cvars *set_cvars(const char *text, struct outcome *outcome) {
    struct cvars *cvars = obtain_memory(sizeof *cvars + count_items(text) * sizeof *cvars->settings);
    char *const copy = memcpy(obtain_memory(strlen(text) + 1), text, strlen(text) + 1), *rest = NULL;
    if (!start_tools())
        note(outcome, LACKING, "this library has no MPI_T");
    else
        for (char *item = strtok_r(copy, ";", &rest); item; item = strtok_r(NULL, ";", &rest)) {
            char *equals = strchr(item, '=');
            if (equals)
                *equals++ = '\0';
            set_cvar(item, equals ? equals : "", cvars, outcome);
        }
    free(copy);
    return cvars;
}

void restore_cvars(struct cvars *cvars) {
    for (int i = cvars->count; i-- > 0;)
        restore_value(&cvars->settings[i]);
    free(cvars);
}

/* --- the list --- */

static const char *find_type_name(const struct cvar *cvar) {
    return cvar->type == MPI_CHAR ? "text" : cvar->type == MPI_DOUBLE ? "real" : "whole";
}

struct printing {
    FILE *out;
    const char *separator;
};

static bool print_next(void *context, const char *name, int64_t number) {
    struct printing *printing = context;
    fprintf(printing->out, "%s{\"name\":", printing->separator);
    write_string(printing->out, name);
    fprintf(printing->out, ",\"number\":%" PRId64 "}", number);
    printing->separator = ",";
    return false;
}

/* As text, for any type. */
static void format_cvar_value(const struct cvar *cvar, const union value *value, char text[NAME_BYTES]) {
    if (cvar->type == MPI_DOUBLE)
        snprintf(text, NAME_BYTES, "%g", value->real);
    else if (count_bytes(cvar) == sizeof value->wide)
        snprintf(text, NAME_BYTES, "%" PRId64, value->wide);
    else
        snprintf(text, NAME_BYTES, "%d", count_bytes(cvar) == sizeof value->narrow ? value->narrow : value->bytes[0]);
}

static void print_value(FILE *out, const struct cvar *cvar) {
    union value *value = obtain_memory(sizeof *value);
    MPI_T_cvar_handle handle;
    char text[NAME_BYTES];
    int count = 0;
    if (MPI_T_cvar_handle_alloc(cvar->index, NULL, &handle, &count) == MPI_SUCCESS) {
        if (has_room_for(cvar, count))
            MPI_T_cvar_read(handle, value);
        MPI_T_cvar_handle_free(&handle);
    }
    format_cvar_value(cvar, value, text);
    fputs(",\"value\":", out);
    write_string(out, cvar->type == MPI_CHAR ? value->text : text);
    free(value);
}

static void print_cvar(FILE *out, const struct cvar *cvar) {
    struct printing printing = {out, ""};
    fputs("{\"name\":", out);
    write_string(out, cvar->name);
    fputs(",\"description\":", out);
    write_string(out, cvar->description);
    fprintf(out, ",\"type\":\"%s\",\"constant\":%s", find_type_name(cvar),
            cvar->scope == MPI_T_SCOPE_CONSTANT ? "true" : "false");
    print_value(out, cvar);
    fputs(",\"values\":[", out);
    visit_names(cvar, print_next, &printing);
    fputs("]}", out);
}

bool list_cvars(FILE *out) {
    const char *separator = "[\n";
    int count = 0;
    if (!start_tools() || MPI_T_cvar_get_num(&count) != MPI_SUCCESS)
        return false;
    struct cvar *cvar = obtain_memory(sizeof *cvar);
    for (int i = 0; i < count; i++)
        if (read_cvar(i, cvar) && cvar->bind == MPI_T_BIND_NO_OBJECT) {
            fputs(separator, out);
            print_cvar(out, cvar);
            separator = ",\n";
        }
    fputs("\n]\n", out);
    free(cvar);
    return true;
}
