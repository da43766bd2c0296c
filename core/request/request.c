/* What is wanted of a case: the values of its operation's choices. */
#include "request/request.h"

#include "base/choices.h"
#include "base/registry.h"

int64_t value_of(const struct wanted *wanted, const struct choice *choice) {
    const struct choice *choices[MOST_CHOICES];
    const int count = choices_of(find_operation(wanted->operation), choices);
    for (int i = 0; i < count; i++)
        if (choices[i] == choice)
            return wanted->values[i];
    return usual_value(choice);
}
