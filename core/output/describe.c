/* The registered units as JSON. */
#include "output/describe.h"

#include <stdio.h>

#include "base/choices.h"
#include "base/registry.h"
#include "missing.h"
#include "output/stream.h"

static void describe_amount(FILE *out, const char *name, struct amount amount) {
    fprintf(out, ",\"%s\":{\"own\":%d,\"each\":%d", name, amount.base, amount.each);
    write_switch(out, "per_message", amount.per_message);
    fputc('}', out);
}

static void describe_name(FILE *out, const char *name, const char *help) {
    fputs("\"name\":", out);
    write_string(out, name);
    write_text(out, "help", help);
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

static void describe_start(FILE *out, const struct start *start) {
    describe_name(out, start->name, start->help);
    write_switch(out, "scheduled", start->scheduled);
    write_switch(out, "discards_overruns", start->discards_overruns);
}

static void describe_limits(FILE *out, const struct operation *operation) {
    const bool counted = operation->hooks.count_messages || operation->data.messages;
    fprintf(out, ",\"ranks_exactly\":%d,\"ranks_least\":%d", operation->ranks.between_two ? 2 : 0,
            operation->ranks.between_two || operation->ranks.in_pairs ? 2
            : operation->ranks.least > 0                              ? operation->ranks.least
                                                                      : 1);
    write_switch(out, "in_pairs", operation->ranks.in_pairs);
    write_switch(out, "between_two", operation->ranks.between_two);
    fprintf(out, ",\"messages\":%d,\"rounds\":%d", counted ? operation->data.messages : 1,
            operation->timing.rounds ? operation->timing.rounds : 1);
    write_switch(out, "once", operation->hooks.read_once_ns != NULL);
    write_switch(out, "rings", operation->hooks.measures != NULL);
    write_switch(out, "large", operation->data.large);
    write_switch(out, "keeps_buffers", operation->data.keeps_buffers);
}

static void describe_datatypes(FILE *out, const struct operation *operation) {
    const char *separator = "";
    fputs(",\"datatypes\":[", out);
    EACH_BY_NAME(datatype, unit)
        if (accepts_datatype(operation, unit)) {
            fprintf(out, "%s\"%s\"", separator, unit->name);
            separator = ",";
        }
    fputc(']', out);
}

static void describe_values(FILE *out, const struct choice *choice) {
    fputs(",\"values\":[", out);
    for (int i = 0; choice->names && choice->names[i]; i++)
        fprintf(out, "%s\"%s\"", i ? "," : "", choice->names[i]);
    fputc(']', out);
}

static void describe_choice(FILE *out, const struct choice *choice) {
    char usual[NAME_BYTES];
    format_value(choice, find_default_value(choice), usual);
    describe_name(out, choice->name, choice->help);
    describe_values(out, choice);
    fprintf(out, ",\"least\":%lld,\"most\":%lld", (long long)choice->least, (long long)choice->most);
    write_switch(out, "extents", choice->extents);
    write_text(out, "usual", usual);
}

static void describe_choices(FILE *out, const struct operation *operation) {
    const struct choice *choices[MOST_CHOICES];
    const int count = list_choices(operation, choices);
    fputs(",\"options\":[", out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ",{" : "{", out);
        describe_choice(out, choices[i]);
        fputc('}', out);
    }
    fputc(']', out);
}

static void describe_operation(FILE *out, const struct operation *operation) {
    describe_name(out, operation->name, operation->help);
    write_text(out, "standard", operation->standard);
    write_text(out, "kind", kind_names[operation->kind]);
    write_text(out, "metric", metric_names[operation->metric]);
    describe_forms(out, operation);
    write_text(out, "form", find_default_form(operation));
    describe_amount(out, "send", operation->amounts.send);
    describe_amount(out, "receive", operation->amounts.receive);
    describe_amount(out, "root_send", operation->amounts.root_send);
    describe_amount(out, "root_receive", operation->amounts.root_receive);
    describe_limits(out, operation);
    write_switch(out, "sized", operation->data.sized);
    write_switch(out, "in_place", operation->data.in_place != NOT_IN_PLACE);
    write_switch(out, "rooted", operation->ranks.rooted);
    write_text(out, "datatype", find_default_datatype(operation));
    describe_datatypes(out, operation);
    write_text(out, "start", operation->timing.start);
    write_switch(out, "checked", operation->hooks.check || operation->timing.synchronises);
    write_text(out, "unchecked", operation->unchecked ? operation->unchecked : "");
    describe_choices(out, operation);
}

static void describe_datatype(FILE *out, const struct datatype *datatype) {
    describe_name(out, datatype->name, datatype->help);
    fprintf(out, ",\"size_bytes\":%d", datatype->bytes);
}

#define DESCRIBE_ALL(out, key, kind, print) \
    do { \
        fprintf(out, ",\n\"" key "\":["); \
        const char *lead = "\n {"; \
        EACH_BY_NAME(kind, unit) { \
            fputs(lead, out); \
            lead = ",\n {"; \
            print; \
            fputc('}', out); \
        } \
        fputs("]", out); \
    } while (0)

void describe(FILE *out) {
    fputs("{\"core\":\"" CORE_VERSION "\"", out);
    DESCRIBE_ALL(out, "operations", operation, describe_operation(out, unit));
    DESCRIBE_ALL(out, "starts", start, describe_start(out, unit));
    DESCRIBE_ALL(out, "sources", source, describe_name(out, unit->name, unit->help));
    DESCRIBE_ALL(out, "synchronisations", synchronisation, describe_name(out, unit->name, unit->help));
    DESCRIBE_ALL(out, "datatypes", datatype, describe_datatype(out, unit));
    fputs("}\n", out);
}
