/* Finds the units that registered themselves, and describes them. */
#include <string.h>

#include "core.h"

const struct datatype datatypes[] = {
    {"byte", "8-bit data that is only moved", MPI_BYTE, 1},
    {"int", "32-bit integers", MPI_INT, sizeof(int)},
    {"float", "32-bit floating point", MPI_FLOAT, sizeof(float)},
    {"double", "64-bit floating point", MPI_DOUBLE, sizeof(double)},
};
const int datatype_count = LENGTH(datatypes);

const char *const form_names[FORMS] = {"blocking", "nonblocking", "persistent"};

const char *last_missing_call = "";

int missing_call(const char *name, ...) {
    last_missing_call = name;
    return CALL_MISSING;
}

#define FINDER(kind) \
    const struct kind *find_##kind(const char *name) { \
        for (const struct kind *const *unit = __start_rb_##kind; unit < __stop_rb_##kind; unit++) \
            if (strcmp((*unit)->name, name) == 0) \
                return *unit; \
        return NULL; \
    }

FINDER(operation)
FINDER(start)
FINDER(source)
FINDER(synchronisation)

const struct datatype *find_datatype(const char *name) {
    for (int i = 0; i < datatype_count; i++)
        if (strcmp(datatypes[i].name, name) == 0)
            return &datatypes[i];
    return NULL;
}

const char *default_datatype(const struct operation *operation) {
    return operation->reduces ? "float" : "byte";
}

static void describe_amount(FILE *out, const char *name, struct amount amount) {
    fprintf(out, ",\"%s\":{\"own\":%d,\"each\":%d}", name, amount.own, amount.each);
}

static void describe_text(FILE *out, const char *name, const char *text) {
    fprintf(out, ",\"%s\":", name);
    write_string(out, text);
}

static void describe_name(FILE *out, const char *name, const char *help) {
    fputs("\"name\":", out);
    write_string(out, name);
    describe_text(out, "help", help);
}

static void describe_forms(FILE *out, const struct operation *operation) {
    const char *separator = "";
    fputs(",\"forms\":[", out);
    for (int form = 0; form < FORMS; form++)
        if (operation->forms[form]) {
            fprintf(out, "%s\"%s\"", separator, form_names[form]);
            separator = ",";
        }
    fputc(']', out);
}

static void describe_switch(FILE *out, const char *name, bool on) {
    fprintf(out, ",\"%s\":%s", name, on ? "true" : "false");
}

static void describe_start(FILE *out, const struct start *start) {
    describe_name(out, start->name, start->help);
    describe_switch(out, "scheduled", start->scheduled);
    describe_switch(out, "discards_overruns", start->discards_overruns);
}

static void describe_operation(FILE *out, const struct operation *operation) {
    describe_name(out, operation->name, operation->help);
    describe_text(out, "standard", operation->standard);
    describe_text(out, "kind", operation->kind);
    describe_text(out, "metric", operation->metric);
    describe_forms(out, operation);
    describe_amount(out, "send", operation->send);
    describe_amount(out, "receive", operation->receive);
    describe_amount(out, "root_send", operation->root_send);
    describe_amount(out, "root_receive", operation->root_receive);
    fprintf(out, ",\"ranks_exactly\":%d,\"messages\":%d", operation->ranks_exactly, operation->messages ? operation->messages : 1);
    describe_switch(out, "sized", operation->sized);
    describe_switch(out, "in_place", operation->in_place != NOT_IN_PLACE);
    describe_switch(out, "rooted", operation->rooted);
    describe_text(out, "datatype", default_datatype(operation));
    describe_text(out, "start", operation->start);
}

#define DESCRIBE_ALL(out, key, kind, print) \
    do { \
        fprintf(out, ",\n\"" key "\":["); \
        for (const struct kind *const *unit = __start_rb_##kind; unit < __stop_rb_##kind; unit++) { \
            fputs(unit == __start_rb_##kind ? "\n {" : ",\n {", out); \
            print; \
            fputc('}', out); \
        } \
        fputs("]", out); \
    } while (0)

void describe(FILE *out) {
    fputs("{\"core\":\"" CORE_VERSION "\"", out);
    DESCRIBE_ALL(out, "operations", operation, describe_operation(out, *unit));
    DESCRIBE_ALL(out, "starts", start, describe_start(out, *unit));
    DESCRIBE_ALL(out, "sources", source, describe_name(out, (*unit)->name, (*unit)->help));
    DESCRIBE_ALL(out, "synchronisations", synchronisation, describe_name(out, (*unit)->name, (*unit)->help));
    fputs(",\n\"datatypes\":[", out);
    for (int i = 0; i < datatype_count; i++) {
        fputs(i ? ",\n {" : "\n {", out);
        describe_name(out, datatypes[i].name, datatypes[i].help);
        fprintf(out, ",\"size_bytes\":%d}", datatypes[i].bytes);
    }
    fputs("]}\n", out);
}
