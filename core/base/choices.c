#include "base/choices.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core.h"

enum { MOST_THREADS = 64, MOST_RANK = 1 << 24, MOST_MESSAGES = 4096, MOST_MICROSECONDS = 10000000 };

const struct choice window_choice = {"window", "messages in a window", .least = 1, .most = MOST_MESSAGES, .usual = 64};
const struct choice from_choice = {"from", "the rank that measures", .least = 0, .most = MOST_RANK, .usual = 0};
const struct choice to_choice = {"to", "the other rank", .least = 0, .most = MOST_RANK, .usual = 1};
const struct choice threads_choice = {"threads", "threads per rank that call at the same time, each on its own communicator",
                                      .least = 1, .most = MOST_THREADS, .usual = 1};
const struct choice level_choice = {
    "thread_level", "how MPI is initialised: by MPI_Init, or with MPI_THREAD_MULTIPLE, which more than one thread needs",
    NAMES_OF("single", "multiple")};
const struct choice reduction_choice = {
    "reduction", "the reduction; user: a sum, ordered: one that is not commutative, both defined by the program",
    NAMES_OF("sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor", "user", "ordered")};
const struct choice arrival_choice = {"arrival", "arrival pattern of the ranks; times count from the last arrival",
                                      NAMES_OF("together", "staggered", "random", "one-late")};
const struct choice spread_choice = {"spread_us", "with arrival: microseconds between the first and the last one", .least = 1,
                                     .most = MOST_MICROSECONDS, .usual = 100};
const struct choice gap_choice = {
    "gap_us", "microseconds that each rank computes on data before a call, as a program does between its calls", .least = 0,
    .most = MOST_MICROSECONDS, .usual = 0};
const struct choice quantity_choice = {
    "quantity", "time; time overlapped with a computation; memory in bytes that the library allocates for the first use",
    NAMES_OF("time", "overlap", "memory")};
const struct choice tests_choice = {"tests", "calls of MPI_Test during the computation", .least = 0, .most = 100000, .usual = 0};
const struct choice compute_choice = {"compute_us",
                                      "length of the computation in microseconds; 0: as long as the communication alone",
                                      .least = 0, .most = MOST_MICROSECONDS, .usual = 0};
const struct choice free_choice = {"free", "whether a call is timed with the freeing of what it makes",
                                   NAMES_OF("untimed", "timed")};

static bool is_self_test(const struct operation *operation) {
    return operation->kind == KIND_SELF_TEST;
}

static bool is_between_any_two(const struct operation *operation) {
    return operation->ranks.between_two && operation->kind == KIND_POINT_TO_POINT;
}

static bool calls_library(const struct operation *operation) {
    return !is_self_test(operation);
}

static bool has_threads(const struct operation *operation) {
    return operation->timing.threads;
}

static bool reduces(const struct operation *operation) {
    return operation->data.datatypes == NUMBERS;
}

static bool can_arrive_apart(const struct operation *operation) {
    return !operation->timing.rank_0_measures && !operation->hooks.read_once_ns && !is_self_test(operation);
}

static bool has_rounds(const struct operation *operation) {
    return !operation->hooks.read_once_ns && !is_self_test(operation);
}

static bool makes_something(const struct operation *operation) {
    return operation->kind == KIND_PROCESS && operation->hooks.after;
}

static bool can_overlap(const struct operation *operation) {
    return !operation->timing.completes && (operation->forms[NONBLOCKING] || operation->forms[PERSISTENT]);
}

static const struct offer {
    const struct choice *choice;
    bool (*applies)(const struct operation *);
} offers[] = {
    {&from_choice, is_between_any_two}, {&to_choice, is_between_any_two},    {&threads_choice, has_threads},
    {&reduction_choice, reduces},       {&arrival_choice, can_arrive_apart}, {&spread_choice, can_arrive_apart},
    {&gap_choice, has_rounds},          {&quantity_choice, calls_library},   {&tests_choice, can_overlap},
    {&compute_choice, can_overlap},     {&free_choice, makes_something},     {&level_choice, calls_library},
};

_Static_assert(LENGTH(offers) + MOST_OWN_CHOICES <= MOST_CHOICES, "room for all choices");

int list_choices(const struct operation *operation, const struct choice *choices[MOST_CHOICES]) {
    int count = 0;
    for (const struct choice *const *next = operation->choices; next && *next; next++)
        choices[count++] = *next;
    for (int i = 0; i < LENGTH(offers); i++)
        if (offers[i].applies(operation))
            choices[count++] = offers[i].choice;
    return count;
}

int64_t find_default_value(const struct choice *choice) {
    return choice->names ? 0 : choice->usual;
}

/* Reads extents such as 4x4; those beyond MOST_EXTENT are invalid. */
static bool read_extents(const char *text, int64_t *value) {
    char *end;
    *value = 0;
    if (strcmp(text, "auto") == 0)
        return true;
    for (int dimension = 0; dimension < MOST_DIMENSIONS; dimension++, text = end + 1) {
        const long extent = strtol(text, &end, 10);
        if (!isdigit((unsigned char)*text) || extent < 1 || extent > MOST_EXTENT)
            return false;
        *value |= (int64_t)extent << (EXTENT_BITS * dimension);
        if (!*end)
            return true;
        if (*end != 'x')
            return false;
    }
    return false;
}

static void write_extents(int64_t value, char text[NAME_BYTES]) {
    int length = 0;
    if (!value)
        snprintf(text, NAME_BYTES, "auto");
    for (; value; value >>= EXTENT_BITS)
        length += snprintf(text + length, (size_t)(NAME_BYTES - length), "%s%d", length ? "x" : "", (int)(value & MOST_EXTENT));
}

bool parse_value(const struct choice *choice, const char *text, int64_t *value) {
    char *end;
    if (choice->extents)
        return read_extents(text, value);
    for (*value = 0; choice->names && choice->names[*value]; ++*value)
        if (strcmp(choice->names[*value], text) == 0)
            return true;
    if (choice->names)
        return false;
    *value = strtoll(text, &end, 10);
    return *text && !*end && *value >= choice->least && *value <= choice->most;
}

void format_value(const struct choice *choice, int64_t value, char text[NAME_BYTES]) {
    if (choice->extents)
        write_extents(value, text);
    else if (choice->names)
        snprintf(text, NAME_BYTES, "%s", choice->names[value]);
    else
        snprintf(text, NAME_BYTES, "%lld", (long long)value);
}

int64_t read_choice(const struct call *call, const struct choice *choice) {
    for (const struct choice_value *entry = call->choices; entry && entry->choice; entry++)
        if (entry->choice == choice)
            return entry->value;
    return find_default_value(choice);
}
