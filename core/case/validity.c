#include "case/validity.h"

#include "base/startup.h"
#include "kit/data.h"

/* --- each notes why a case is refused; the first reason counts --- */

static void refuse_if(const struct setting *setting, bool invalid, const char *why) {
    if (invalid)
        note(setting->outcome, REFUSED, "%s", why);
}

static void check_memory(const struct setting *setting) {
    const struct memory memory = setting->workers->buffers.memory;
    const struct operation *operation = setting->plan->operation;
    const bool keeps = setting->plan->form == PERSISTENT || operation->data.keeps_buffers || setting->threads > 1;
    if (memory.in_place && !operation->data.in_place)
        note(setting->outcome, REFUSED, "%s cannot be done in place", operation->name);
    else if (memory.root != 0 && !operation->ranks.rooted)
        note(setting->outcome, REFUSED, "%s has no root", operation->name);
    else if (memory.root >= first_call(setting)->peers.ranks)
        note(setting->outcome, REFUSED, "root %d is not one of the %d ranks", memory.root, first_call(setting)->peers.ranks);
    else if (keeps && (memory.cold || memory.root == ROTATING))
        note(setting->outcome, REFUSED, "%s keeps its %s from call to call",
             setting->threads > 1 ? "a thread" : "a persistent request", memory.cold ? "buffers" : "root");
}

static void check_quantity(const struct setting *setting) {
    const struct plan *plan = setting->plan;
    const int64_t quantity = read_case_choice(setting, &quantity_choice);
    if (quantity == QUANTITY_TIME)
        return;
    refuse_if(setting, quantity == QUANTITY_OVERLAP && (plan->form == BLOCKING || plan->operation->timing.completes),
              "quantity=overlap needs a nonblocking or persistent form that the core completes");
    refuse_if(setting, read_case_choice(setting, &free_choice) == FREE_TIMED, "free=timed needs quantity=time");
    refuse_if(setting, setting->threads > 1, "with threads only quantity=time is measured");
    refuse_if(setting, setting->team->ranks > 2 && plan->operation->ranks.between_two,
              "for ranks other than 0 and 1 only quantity=time is measured");
}

static void check_numbers(const struct setting *setting) {
    const bool fractions =
        setting->plan->operation->data.datatypes == NUMBERS && first_call(setting)->message.datatype->basic != MPI_INT;
    refuse_if(setting, fractions && reduces_whole_numbers_only(read_case_choice(setting, &reduction_choice)),
              "this reduction is for integers only");
}

void check_validity(const struct setting *setting) {
    const struct operation *operation = setting->plan->operation;
    const struct outcome *outcome = setting->outcome;
    check_memory(setting);
    check_quantity(setting);
    refuse_if(setting, read_case_choice(setting, &arrival_choice) != ARRIVE_TOGETHER && !setting->plan->start->scheduled,
              "arrival patterns need a scheduled start (start=window or roundtime)");
    check_numbers(setting);
    if (outcome->severity == GOOD && (setting->threads > 1 || read_case_choice(setting, &level_choice) == LEVEL_MULTIPLE))
        refuse_if(setting, why_no_threads() != NULL, why_no_threads());
    const char *why = outcome->severity == GOOD && operation->hooks.refuse ? operation->hooks.refuse(first_call(setting)) : NULL;
    refuse_if(setting, why != NULL, why);
}
