#define _GNU_SOURCE
#include "timing/thread_team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/allocation.h"

enum { LOOKS = 200 };

struct member {
    pthread_t thread;
    struct call *call;
    struct thread_team *thread_team;
    int code;
};

struct thread_team {
    int (*run)(struct call *);
    int threads, started;
    struct member *members;
    /* Counts the runs ordered and, for each, the members that have completed it. */
    atomic_int orders, completed;
    atomic_bool over;
};

/* There may be more threads than cores: after some spins they yield. */
static void wait_for(const atomic_int *value, int wanted) {
    for (int look = 0; atomic_load_explicit(value, memory_order_acquire) != wanted; look++)
        if (look > LOOKS)
            sched_yield();
}

static int run_rounds(const struct thread_team *thread_team, struct call *call) {
    int code = MPI_SUCCESS;
    for (int round = 0; round < THREAD_ROUNDS; round++) {
        const int now = thread_team->run(call);
        code = code ? code : now;
    }
    return code;
}

static void *run_thread(void *context) {
    struct member *me = context;
    struct thread_team *thread_team = me->thread_team;
    for (int order = 1;; order++) {
        wait_for(&thread_team->orders, order);
        if (atomic_load(&thread_team->over))
            return NULL;
        me->code = run_rounds(thread_team, me->call);
        me->call->runs++;
        atomic_fetch_add_explicit(&thread_team->completed, 1, memory_order_release);
    }
}

int run_threads(struct call *call) {
    struct thread_team *thread_team = call->thread_team;
    atomic_store_explicit(&thread_team->completed, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&thread_team->orders, 1, memory_order_release);
    int code = run_rounds(thread_team, call);
    wait_for(&thread_team->completed, thread_team->threads - 1);
    for (int i = 1; i < thread_team->threads; i++)
        code = code ? code : thread_team->members[i].code;
    return code;
}

void join_threads(struct thread_team *thread_team) {
    if (!thread_team)
        return;
    atomic_store(&thread_team->over, true);
    atomic_fetch_add_explicit(&thread_team->orders, 1, memory_order_release);
    for (int i = 1; i <= thread_team->started; i++)
        pthread_join(thread_team->members[i].thread, NULL);
    free(thread_team->members);
    free(thread_team);
}

struct thread_team *start_threads(struct call *first, size_t apart, int threads, int (*run)(struct call *)) {
    struct thread_team *thread_team = obtain_memory(sizeof *thread_team);
    thread_team->run = run;
    thread_team->threads = threads;
    thread_team->members = obtain_memory(sizeof *thread_team->members * (size_t)threads);
    for (int i = 0; i < threads; i++) {
        struct member *member = &thread_team->members[i];
        struct call *call = (struct call *)((char *)first + apart * (size_t)i);
        call->thread_team = thread_team;
        *member = (struct member){.call = call, .thread_team = thread_team};
        if (i > 0 && pthread_create(&member->thread, NULL, run_thread, member) != 0)
            break;
        thread_team->started = i;
    }
    if (thread_team->started == threads - 1)
        return thread_team;
    join_threads(thread_team);
    return NULL;
}
