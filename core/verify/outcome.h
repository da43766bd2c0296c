/* How a rank fared in a case, and how all did. */
#ifndef RANKBENCH_OUTCOME_H
#define RANKBENCH_OUTCOME_H

#include "base/core.h"
#include "base/op.h"

enum severity { GOOD, LACKING, REFUSED, FAILED, WRONG_DATA };
/* By severity, as the stream shows them. */
extern const char *const statuses[];

/* How one rank fared; the worst of all ranks decides. */
struct outcome {
    int32_t severity;
    int32_t rank;
    int32_t migrated;
    int64_t drift_ns;
    int64_t moved_bytes, moved_messages;
    int64_t growth_bytes;
    /* How long the first two calls of the case took, the most of all ranks; 0: not made. */
    int64_t call_ns[2];
    /* What a rank wrote to files, pipes and terminals while calls were timed, the most of all ranks. */
    int64_t printed_bytes;
    /* Of the first rank that did: from which CPU it went to which other. */
    int32_t moved_rank, moved_from, moved_to;
    char reason[LINE_BYTES / 2];
    /* One word by which programs know the reason; empty: none needs to. */
    char cause[NAME_BYTES];
    /* What the library reports of an algorithm that it was to use and did not; empty: nothing. */
    char fallback[LINE_BYTES / 2];
};

/* Keeps the worst, and of equally bad ones the first. */
void note(struct outcome *outcome, int severity, const char *text);
void note_cause(struct outcome *outcome, int severity, const char *cause, const char *text);
/* What an MPI call returned; nothing is noted of MPI_SUCCESS. */
void note_code(struct outcome *outcome, int code, const char *what);
/* Reports every rank of the team the worst outcome so far, so that all go the same way. */
bool all_ranks_good(const struct team *team, struct outcome *outcome);

#endif
