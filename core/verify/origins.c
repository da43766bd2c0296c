#include "verify/origins.h"

#include <stdio.h>

#include "base/core.h"
#include "base/steady.h"
#include "base/tree.h"

/* Each rank adds 1 to a number of rank 0 so many times. */
enum { TIMES = 50, TARGET = 0, MOST_TRIES = 1000, APART_NS = 1000 };

static const int summand = 1;

/* Between reading and writing others have time to read the same. */
static int add_under_lock(MPI_Win window, int *lost) {
    int number = 0;
    (void)lost;
    int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, window);
    code = code ? code : MPI_Get(&number, 1, MPI_INT, TARGET, 0, 1, MPI_INT, window);
    code = code ? code : MPI_Win_flush(TARGET, window);
    const int64_t until_ns = read_steady_ns() + APART_NS;
    while (read_steady_ns() < until_ns)
        ;
    number++;
    code = code ? code : MPI_Put(&number, 1, MPI_INT, TARGET, 0, 1, MPI_INT, window);
    return code ? code : MPI_Win_unlock(TARGET, window);
}

static int accumulate(MPI_Win window, int *lost) {
    (void)lost;
    int code = MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window);
    code = code ? code : MPI_Accumulate(&summand, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, window);
    return code ? code : MPI_Win_unlock(TARGET, window);
}

static int fetch(MPI_Win window, int *lost) {
    int before = 0;
    (void)lost;
    int code = MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window);
    code = code ? code : MPI_Fetch_and_op(&summand, &before, MPI_INT, TARGET, 0, MPI_SUM, window);
    return code ? code : MPI_Win_unlock(TARGET, window);
}

static int get_and_add(MPI_Win window, int *lost) {
    int before = 0;
    (void)lost;
    int code = MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window);
    code = code ? code : MPI_Get_accumulate(&summand, 1, MPI_INT, &before, 1, MPI_INT, TARGET, 0, 1, MPI_INT, MPI_SUM, window);
    return code ? code : MPI_Win_unlock(TARGET, window);
}

/* Others may be faster for ever: after many tries nothing is added. */
static int swap(MPI_Win window, int *lost) {
    int actual = 0, expected = 0, code = MPI_SUCCESS;
    for (int tries = 0; tries < MOST_TRIES && !code; tries++) {
        int wanted = expected + 1;
        code = MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, window);
        code = code ? code : MPI_Compare_and_swap(&wanted, &expected, &actual, MPI_INT, TARGET, 0, window);
        code = code ? code : MPI_Win_unlock(TARGET, window);
        if (actual == expected)
            return code;
        expected = actual;
    }
    ++*lost;
    return code;
}

static const struct addition {
    const char *name;
    int (*add)(MPI_Win window, int *lost);
} additions[] = {
    {"an exclusive lock", add_under_lock}, {"MPI_Accumulate", accumulate}, {"MPI_Fetch_and_op", fetch},
    {"MPI_Get_accumulate", get_and_add},   {"MPI_Compare_and_swap", swap},
};

/* Under a lock, so that the target sees what others wrote. */
static int exchange_number(MPI_Win window, int *number, int *value) {
    const int code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, window);
    const int before = *number;
    *number = *value;
    *value = before;
    const int unlocked = MPI_Win_unlock(TARGET, window);
    return code ? code : unlocked;
}

static void add_up(void *into, const void *from, int bytes) {
    (void)bytes;
    *(int *)into += *(const int *)from;
}

static void check_addition(const struct setting *setting, const struct addition *addition, MPI_Win window, int *number) {
    const struct team *team = setting->team;
    int added = 0, value = 0;
    int code = team->rank == TARGET ? exchange_number(window, number, &value) : MPI_SUCCESS;
    value = 0;
    dissemination_barrier(team);
    for (int i = 0; i < TIMES && !code; i++) {
        int lost = 0;
        code = addition->add(window, &lost);
        added += !code && !lost;
    }
    dissemination_barrier(team);
    if (team->rank == TARGET && code != CALL_MISSING)
        code = code ? code : exchange_number(window, number, &value);
    if (code != CALL_MISSING)
        note_code(setting->outcome, code, addition->name);
    tree_combine(team, &added, sizeof added, add_up);
    if (team->rank != TARGET || code || value == added)
        return;
    note(setting->outcome, WRONG_DATA, "rank %d: %d ranks added 1 to a number %d times by %s, and %d were added", TARGET,
         team->ranks, added, addition->name, value);
}

void check_origins(const struct setting *setting) {
    static int most_ranks;
    const struct team *team = setting->team;
    int number = 0;
    MPI_Win window = MPI_WIN_NULL;
    if (team->takes > 0 || team->ranks < 2 || tree_agree(team, most_ranks >= team->ranks))
        return;
    most_ranks = team->ranks;
    int code = MPI_Win_create(&number, team->rank == TARGET ? sizeof number : 0, 1, MPI_INFO_NULL, team->members, &window);
    code = code ? code : MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    note_code(setting->outcome, code, "MPI_Win_create");
    for (int i = 0; i < LENGTH(additions) && all_ranks_good(team, setting->outcome); i++)
        check_addition(setting, &additions[i], window, &number);
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
}
