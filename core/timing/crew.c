#define _GNU_SOURCE
#include "timing/crew.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/allocation.h"

enum { LOOKS = 200 };

struct member {
    pthread_t thread;
    struct call *call;
    struct crew *crew;
    int code;
};

struct crew {
    int (*run)(struct call *);
    int threads, started;
    struct member *members;
    /* Counts the orders given and, of each, the members that have carried it out. */
    atomic_int orders, done;
    atomic_bool over;
};

/* Threads may be more than cores: after a few looks they let others run. */
static void wait_for(const atomic_int *value, int wanted) {
    for (int look = 0; atomic_load_explicit(value, memory_order_acquire) != wanted; look++)
        if (look > LOOKS)
            sched_yield();
}

static int run_rounds(const struct crew *crew, struct call *call) {
    int code = MPI_SUCCESS;
    for (int round = 0; round < CREW_ROUNDS; round++) {
        const int now = crew->run(call);
        code = code ? code : now;
    }
    return code;
}

static void *work(void *context) {
    struct member *me = context;
    struct crew *crew = me->crew;
    for (int order = 1;; order++) {
        wait_for(&crew->orders, order);
        if (atomic_load(&crew->over))
            return NULL;
        me->code = run_rounds(crew, me->call);
        atomic_fetch_add_explicit(&crew->done, 1, memory_order_release);
    }
}

int run_crew(struct call *call) {
    struct crew *crew = call->crew;
    atomic_store_explicit(&crew->done, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&crew->orders, 1, memory_order_release);
    int code = run_rounds(crew, call);
    wait_for(&crew->done, crew->threads - 1);
    for (int i = 1; i < crew->threads; i++)
        code = code ? code : crew->members[i].code;
    return code;
}

void dismiss_crew(struct crew *crew) {
    if (!crew)
        return;
    atomic_store(&crew->over, true);
    atomic_fetch_add_explicit(&crew->orders, 1, memory_order_release);
    for (int i = 1; i <= crew->started; i++)
        pthread_join(crew->members[i].thread, NULL);
    free(crew->members);
    free(crew);
}

struct crew *gather_crew(struct call *first, size_t apart, int threads, int (*run)(struct call *)) {
    struct crew *crew = obtain_memory(sizeof *crew);
    crew->run = run;
    crew->threads = threads;
    crew->members = obtain_memory(sizeof *crew->members * (size_t)threads);
    for (int i = 0; i < threads; i++) {
        struct member *member = &crew->members[i];
        struct call *call = (struct call *)((char *)first + apart * (size_t)i);
        call->crew = crew;
        *member = (struct member){.call = call, .crew = crew};
        if (i > 0 && pthread_create(&member->thread, NULL, work, member) != 0)
            break;
        crew->started = i;
    }
    if (crew->started == threads - 1)
        return crew;
    dismiss_crew(crew);
    return NULL;
}
