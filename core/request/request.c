#include "request/request.h"

#include "base/choices.h"
#include "base/registry.h"

int64_t read_requested_choice(const struct request *request, const struct choice *choice) {
    const struct choice *choices[MOST_CHOICES];
    const int count = list_choices(find_operation(request->operation), choices);
    for (int i = 0; i < count; i++)
        if (choices[i] == choice)
            return request->values[i];
    return find_default_value(choice);
}
