/* Choices that several operations share. */
#ifndef RANKBENCH_CHOICES_H
#define RANKBENCH_CHOICES_H

#include "base/op.h"

/* Of a row; beside them there is room for all that several operations share. */
enum { MOST_OWN_CHOICES = 8 };

/* In the order of the names of the choices. */
enum { REDUCTION_USER = 10, REDUCTION_ORDERED };
enum { ARRIVE_TOGETHER, ARRIVE_STAGGERED, ARRIVE_RANDOMLY, ARRIVE_ONE_LATE };
enum { FREE_UNTIMED, FREE_TIMED };
enum { LEVEL_SINGLE, LEVEL_MULTIPLE };
enum { QUANTITY_TIME, QUANTITY_OVERLAP, QUANTITY_MEMORY };

extern const struct choice from_choice, to_choice, threads_choice, reduction_choice, arrival_choice, spread_choice, gap_choice,
    quantity_choice, tests_choice, compute_choice, window_choice, free_choice, level_choice;

/* Whether the program defines the reduction. */
static inline bool is_user_defined(int64_t reduction) {
    return reduction >= REDUCTION_USER;
}

/* Value of a choice for a case. */
struct choice_value {
    const struct choice *choice;
    int64_t value;
};

/* Returns the value: the index of a name, or the number. */
int64_t read_choice(const struct call *call, const struct choice *choice);

/* Lists the choices of an operation: its own and the shared ones that apply. Returns their number. */
int list_choices(const struct operation *operation, const struct choice *choices[MOST_CHOICES]);
int64_t find_default_value(const struct choice *choice);
/* Returns false if the text is not a value of the choice. */
bool parse_value(const struct choice *choice, const char *text, int64_t *value);
void format_value(const struct choice *choice, int64_t value, char text[NAME_BYTES]);

#endif
