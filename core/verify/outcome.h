/* Outcome of a case on a rank, and on all ranks. */
#ifndef RANKBENCH_OUTCOME_H
#define RANKBENCH_OUTCOME_H

#include "base/core.h"
#include "base/op.h"

enum severity { GOOD, LACKING, REFUSED, FAILED, WRONG_DATA };
/* Names by severity, in the stream. */
extern const char *const statuses[];

/* Outcome of one rank; the worst of all ranks counts. */
struct outcome {
    int32_t severity;
    int32_t rank;
    /* The rank that noted the reason. */
    int32_t noted_by;
    int32_t migrated;
    int64_t drift_ns;
    int64_t moved_bytes, moved_messages;
    int64_t growth_bytes;
    /* Time of the first two calls of the case, the largest over ranks; 0: not made. */
    int64_t call_ns[2];
    /* Bytes that a rank wrote to files, pipes and terminals while calls were timed, the largest over ranks. */
    int64_t printed_bytes;
    /* The first rank that moved to another CPU: the rank and both CPUs. */
    int32_t moved_rank, moved_from, moved_to;
    char reason[LINE_BYTES / 2];
    /* A word by which programs recognise the reason; empty: none. */
    char cause[NAME_BYTES];
    /* The library's report that it did not use a requested algorithm; empty: none. */
    char fallback[LINE_BYTES / 2];
};

/* Keeps the worst text; of equally bad ones the first. */
void note(struct outcome *outcome, int severity, const char *format, ...) __attribute__((format(printf, 3, 4)));
void note_cause(struct outcome *outcome, int severity, const char *cause, const char *text);
/* Notes the error code of an MPI call, except MPI_SUCCESS. */
void note_code(struct outcome *outcome, int code, const char *what);
/* Adds to the reason in which call it arose. */
void add_circumstance(struct outcome *outcome, const char *call);
/* Gives every rank of the team the worst outcome so far, so that all continue alike. Returns whether it is good. */
bool all_ranks_good(const struct team *team, struct outcome *outcome);

#endif
