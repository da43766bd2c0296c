#include "verify/outcome.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers.h"
#include "base/registry.h"
#include "base/tree.h"
#include "timing/watchdog.h"

const char *const statuses[] = {"ok", "lacking", "refused", "failed", "wrong-data"};

static void merge_outcomes(void *into, const void *from, int bytes) {
    (void)bytes;
    struct outcome *local = into;
    const struct outcome *theirs = from;
    struct outcome merged = theirs->severity > local->severity ? *theirs : *local;
    merged.migrated = local->migrated | theirs->migrated;
    const struct outcome *moved =
        local->migrated && (!theirs->migrated || local->moved_rank < theirs->moved_rank) ? local : theirs;
    merged.moved_rank = moved->moved_rank;
    merged.moved_from = moved->moved_from;
    merged.moved_to = moved->moved_to;
    merged.drift_ns = max(local->drift_ns, theirs->drift_ns);
    merged.moved_bytes = max(local->moved_bytes, theirs->moved_bytes);
    merged.moved_messages = max(local->moved_messages, theirs->moved_messages);
    merged.growth_bytes = max(local->growth_bytes, theirs->growth_bytes);
    merged.printed_bytes = max(local->printed_bytes, theirs->printed_bytes);
    memcpy(merged.fallback, *local->fallback ? local->fallback : theirs->fallback, sizeof merged.fallback);
    for (int i = 0; i < 2; i++)
        merged.call_ns[i] = max(local->call_ns[i], theirs->call_ns[i]);
    *local = merged;
}

static bool begin_note(struct outcome *outcome, int severity, const char *cause) {
    if (severity <= outcome->severity)
        return false;
    outcome->severity = severity;
    outcome->noted_by = outcome->rank;
    snprintf(outcome->cause, sizeof outcome->cause, "%s", cause);
    return true;
}

void note(struct outcome *outcome, int severity, const char *format, ...) {
    va_list values;
    if (!begin_note(outcome, severity, ""))
        return;
    va_start(values, format);
    vsnprintf(outcome->reason, sizeof outcome->reason, format, values);
    va_end(values);
}

void note_cause(struct outcome *outcome, int severity, const char *cause, const char *text) {
    if (begin_note(outcome, severity, cause))
        snprintf(outcome->reason, sizeof outcome->reason, "%s", text);
}

void note_code(struct outcome *outcome, int code, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return;
    if (code == CALL_MISSING) {
        note(outcome, LACKING, "%s is not in this library", last_missing_call);
        return;
    }
    MPI_Error_string(code, text, &length);
    for (char *end; (end = strchr(text, '\n'));)
        *end = ' ';
    note(outcome, FAILED, "rank %d, %s: %.150s", outcome->rank, what, text);
    watch_error(what, code);
}

void add_circumstance(struct outcome *outcome, const char *call) {
    const size_t length = strlen(outcome->reason);
    snprintf(outcome->reason + length, sizeof outcome->reason - length, "; in a call that the case does not time: %s", call);
}

bool all_ranks_good(const struct team *team, struct outcome *outcome) {
    tree_combine(team, outcome, sizeof *outcome, merge_outcomes);
    tree_broadcast(team, outcome, sizeof *outcome);
    outcome->rank = team->rank;
    return outcome->severity == GOOD;
}
