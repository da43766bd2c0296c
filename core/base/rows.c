/* A row is data that the compiler cannot judge: checked at start, a wrong one is found before anything is measured. */
#include "base/rows.h"

#include <stdio.h>
#include <string.h>

#include "base/choices.h"
#include "base/registry.h"

static bool has_usual_form(const struct operation *row) {
    int form = row->usual;
    while (form < FORMS && !row->forms[form])
        form++;
    return form < FORMS;
}

static bool is_amount(struct amount amount) {
    return amount.base != 0 || amount.each != 0;
}

static bool moves_data(const struct operation *row) {
    return is_amount(row->amounts.send) || is_amount(row->amounts.receive) || is_amount(row->amounts.root_send) ||
           is_amount(row->amounts.root_receive);
}

static const char *find_fault_of_text(const struct operation *row) {
    if (!row->help || !row->standard)
        return "it lacks its help or its section of the standard";
    if (find_operation(row->name) != row)
        return "another operation has the same name";
    if (row->kind < KIND_COLLECTIVE || row->kind >= KINDS)
        return "it has no kind";
    return NULL;
}

static const char *find_fault_of_timing(const struct operation *row) {
    if (!has_usual_form(row))
        return "it has no form, or none from its usual one on";
    if (!row->timing.start || !find_start(row->timing.start))
        return "its start is not known";
    if (row->timing.rank_0_measures && row->hooks.measures)
        return "rank 0 measures, and ranks that it chooses itself";
    return NULL;
}

static const char *find_fault_of_ranks(const struct operation *row) {
    if (row->ranks.between_two + row->ranks.in_pairs + (row->hooks.takes != NULL) > 1)
        return "its number of ranks is set in two ways";
    if (row->ranks.between_two && row->ranks.rooted)
        return "it has a root and is between two ranks";
    return NULL;
}

static const char *find_fault_of_data(const struct operation *row) {
    const bool checked = row->hooks.check || row->timing.synchronises;
    if (checked == (row->unchecked != NULL) && (checked || row->kind != KIND_SELF_TEST))
        return checked ? "its results are checked, and it says why not" : "its results are not checked, and it does not say why";
    if (row->hooks.fill && !row->hooks.check)
        return "it fills data that it does not check";
    if (moves_data(row) && !row->data.sized)
        return "it moves data and has no size";
    if (row->data.messages && row->hooks.count_messages)
        return "its messages are counted in two ways";
    if (row->hooks.is_passive_target && !row->rma.pattern)
        return "it has no pattern of targets";
    return NULL;
}

static const char *find_fault_of_choices(const struct operation *row) {
    const struct choice *choices[MOST_CHOICES];
    int listed = 0;
    while (row->choices && row->choices[listed])
        listed++;
    if (listed > MOST_OWN_CHOICES)
        return "it has too many choices";
    const int count = list_choices(row, choices);
    for (int i = 0; i < count; i++) {
        const struct choice *choice = choices[i];
        if (!choice->names && !choice->extents && (choice->usual < choice->least || choice->usual > choice->most))
            return "the default of a choice is none of its values";
        for (int k = 0; k < i; k++)
            if (strcmp(choices[k]->name, choice->name) == 0)
                return "two choices have the same name";
    }
    return NULL;
}

const char *find_row_fault(const struct operation *row) {
    const char *fault = find_fault_of_text(row);
    fault = fault ? fault : find_fault_of_timing(row);
    fault = fault ? fault : find_fault_of_ranks(row);
    fault = fault ? fault : find_fault_of_data(row);
    return fault ? fault : find_fault_of_choices(row);
}

bool check_rows(void) {
    bool good = true;
    for (const struct operation *const *row = __start_rb_operation; row < __stop_rb_operation; row++) {
        const char *const fault = find_row_fault(*row);
        good &= !fault;
        if (fault)
            fprintf(stderr, "rankbench-core: the row of operation %s: %s\n", (*row)->name, fault);
    }
    return good;
}
