#include "case/validity.h"

#include <stdio.h>

#include "base/startup.h"
#include "kit/data.h"

/* Why the memory settings are invalid for the operation; NULL: they are valid. */
static const char *why_memory_invalid(const struct setting *setting, char line[LINE_BYTES / 2]) {
    const struct memory memory = setting->workers->buffers.memory;
    const struct operation *operation = setting->plan->operation;
    const bool keeps = setting->plan->form == PERSISTENT || operation->data.keeps_buffers || setting->threads > 1;
    if (memory.in_place && !operation->data.in_place)
        snprintf(line, LINE_BYTES / 2, "%s cannot be done in place", operation->name);
    else if (memory.root != 0 && !operation->ranks.rooted)
        snprintf(line, LINE_BYTES / 2, "%s has no root", operation->name);
    else if (memory.root >= first_call(setting)->peers.ranks)
        snprintf(line, LINE_BYTES / 2, "root %d is not one of the %d ranks", memory.root, first_call(setting)->peers.ranks);
    else if (keeps && (memory.cold || memory.root == ROTATING))
        snprintf(line, LINE_BYTES / 2, "%s keeps its %s from call to call",
                 setting->threads > 1 ? "a thread" : "a persistent request", memory.cold ? "buffers" : "root");
    else
        return NULL;
    return line;
}

static const char *why_quantity_invalid(const struct setting *setting) {
    const struct plan *plan = setting->plan;
    const int64_t quantity = read_case_choice(setting, &quantity_choice);
    if (quantity == QUANTITY_OVERLAP && (plan->form == BLOCKING || plan->operation->timing.completes))
        return "quantity=overlap needs a nonblocking or persistent form that the core completes";
    if (quantity != QUANTITY_TIME && read_case_choice(setting, &free_choice) == FREE_TIMED)
        return "free=timed needs quantity=time";
    if (quantity != QUANTITY_TIME && setting->threads > 1)
        return "with threads only quantity=time is measured";
    if (quantity != QUANTITY_TIME && setting->team->ranks > 2 && plan->operation->ranks.between_two)
        return "for ranks other than 0 and 1 only quantity=time is measured";
    return NULL;
}

static const char *why_start_invalid(const struct setting *setting) {
    if (read_case_choice(setting, &arrival_choice) != ARRIVE_TOGETHER && !setting->plan->start->scheduled)
        return "arrival patterns need a scheduled start (start=window or roundtime)";
    return NULL;
}

static const char *why_numbers_invalid(const struct setting *setting) {
    const struct call *call = first_call(setting);
    if (setting->plan->operation->data.datatypes != NUMBERS || call->message.datatype->basic == MPI_INT)
        return NULL;
    return reduces_whole_numbers_only(read_case_choice(setting, &reduction_choice)) ? "this reduction is for integers only"
                                                                                    : NULL;
}

const char *why_invalid(const struct setting *setting, char line[LINE_BYTES / 2]) {
    const struct operation *operation = setting->plan->operation;
    const char *why = why_memory_invalid(setting, line);
    why = why ? why : why_quantity_invalid(setting);
    why = why ? why : why_start_invalid(setting);
    why = why ? why : why_numbers_invalid(setting);
    if (!why && setting->threads > 1)
        why = why_no_threads();
    return why || !operation->hooks.refuse ? why : operation->hooks.refuse(first_call(setting));
}
