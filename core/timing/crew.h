/* Threads of a rank that do the same call at the same time, each with its own buffers and communicators. */
#ifndef RANKBENCH_CREW_H
#define RANKBENCH_CREW_H

#include "base/op.h"

struct crew;

/* Starts a thread for each call but the first, which remains the caller's own; calls lie `apart` bytes. Returns NULL if the system gives no threads. */
struct crew *gather_crew(struct call *first, size_t apart, int threads, int (*run)(struct call *));
void dismiss_crew(struct crew *crew);

/* Makes every thread run its call CREW_ROUNDS times in a row and waits for all; `call` is the first one. */
enum { CREW_ROUNDS = 16 };
int run_crew(struct call *call);

#endif
