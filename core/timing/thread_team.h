/* Threads of a rank that call at the same time, each with its own buffers and communicators. */
#ifndef RANKBENCH_THREAD_TEAM_H
#define RANKBENCH_THREAD_TEAM_H

#include "base/op.h"

struct thread_team;

/* Starts a thread for each call but the first, which is the caller's own; calls are `apart` bytes from each other.
 * Returns NULL if the system gives no threads. */
struct thread_team *start_threads(struct call *first, size_t apart, int threads, int (*run)(struct call *));
void join_threads(struct thread_team *thread_team);

/* Runs the call of every thread THREAD_ROUNDS times and waits for all; `call` is the first one. */
enum { THREAD_ROUNDS = 16 };
int run_threads(struct call *call);

#endif
