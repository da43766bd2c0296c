/* Nonblocking and persistent calls: when each was started, and the calls that complete them.
 *
 * A library may give one handle to several calls that are complete at once; their starts are summed. */
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

enum { BUCKET = 8, REQUESTS = 32768, FEW = 32 };
enum { Wait = 900, Waitall, Waitany, Waitsome, Test, Testall, Testany, Testsome, Start };

struct request {
    uintptr_t handle;
    struct kind *kind;
    uint64_t begin; /* sum over active calls */
    uint32_t active;
    bool persistent;
    struct channel_end end;
    uint32_t message, level; /* of `log_message` */
};
static struct request requests[REQUESTS];

static struct request *find_bucket(uintptr_t handle) {
    return &requests[(handle ^ handle >> 5 ^ handle >> 15) % (REQUESTS / BUCKET) * BUCKET];
}

static struct request *find_request(uintptr_t handle) {
    struct request *const bucket = find_bucket(handle);
    for (int i = 0; i < BUCKET; i++)
        if (bucket[i].kind && bucket[i].handle == handle)
            return &bucket[i];
    return 0;
}

void track_request(struct kind *kind, MPI_Request request, const struct call *call, bool persistent, struct channel_end end) {
    const uintptr_t handle = (uintptr_t)request;
    struct request *const bucket = find_bucket(handle), *place = 0;
    const uint32_t message = persistent ? 0 : log_message(kind, call, end, false);
    for (int i = 0; i < BUCKET; i++) {
        if (bucket[i].kind == kind && bucket[i].handle == handle && !bucket[i].persistent && !persistent) {
            place = &bucket[i];
            break;
        }
        if (!bucket[i].kind && !place)
            place = &bucket[i];
    }
    if (!place) {
        header->lost_requests++;
        return;
    }
    const struct request before = place->kind ? *place : (struct request){0};
    *place = (struct request){.handle = handle, .kind = kind, .persistent = persistent, .end = end};
    if (persistent)
        return;
    place->begin = before.begin + call->begin;
    place->active = before.active + 1;
    place->message = before.active ? 0 : message;
    place->level = header->message_level;
}

static void forget_request(uintptr_t handle) {
    struct request *const found = find_request(handle);
    if (found)
        *found = (struct request){0};
}

/* One active call of a handle is complete; returns its kind. Requests to nobody may have the same handle. */
static struct kind *complete(uintptr_t handle, const struct call *call) {
    struct request *const found = find_request(handle);
    if (!found || !found->active)
        return 0;
    struct kind *const kind = found->kind;
    const uint64_t begin = found->begin / found->active;
    kind->completed++;
    kind->pending += call->end - begin;
    complete_message(found->message, found->level, call->begin, call->end);
    found->message = 0;
    found->begin -= begin;
    if (--found->active == 0 && !found->persistent)
        *found = (struct request){0};
    return kind;
}

/* Time in a Wait or Test belongs to the calls that it completed; if there are none, to the first that it tested. */
static void complete_calls(struct call *call, struct kind *kind, uintptr_t *handles, int count, const int *places, int completed,
                           int first) {
    const uint64_t ticks = call->end - call->begin;
    if (completed == 0) {
        for (int i = 0; i < count; i++) {
            struct request *const found = find_request(handles[i]);
            if (found && found->active) {
                found->kind->waited += ticks;
                kind->waited += ticks;
                return;
            }
        }
        return;
    }
    unsigned active = 0;
    for (int i = 0; i < completed; i++) {
        const int place = places ? places[i] - first : i;
        handles[place] = (uintptr_t)complete(handles[place], call);
        active += handles[place] != 0;
    }
    for (int i = 0; i < completed && active; i++) {
        struct kind *const its = (struct kind *)handles[places ? places[i] - first : i];
        if (its)
            its->waited += ticks / active;
    }
    if (active)
        kind->waited += ticks;
}

/* Copies of handles: a completion clears those of the program. */
static uintptr_t *copy_handles(uintptr_t *few, const void *from, int count, bool fortran) {
    uintptr_t *const copy = count <= FEW ? few : malloc((size_t)count * sizeof *copy);
    for (int i = 0; copy && i < count; i++)
        copy[i] = (uintptr_t)(fortran ? TO_C(Request, ((const MPI_Fint *)from)[i]) : ((const MPI_Request *)from)[i]);
    return copy;
}

struct completion {
    struct call call;
    uintptr_t few[FEW], *handles;
    int count;
};

/* False: the call is not counted. */
static bool begin_completion(struct completion *one, const void *requests_, int count, bool fortran) {
    if (!recording || inside)
        return false;
    one->handles = copy_handles(one->few, requests_, count, fortran);
    one->count = one->handles ? count : 0;
    return enter_call(&one->call);
}

struct completer {
    struct kind *kind; /* 0: not yet called */
    const char *name;
    int number, first;
};

static void end_completion(struct completion *one, struct completer *by, const int *places, int completed) {
    leave_call(&one->call);
    if (!by->kind)
        by->kind = find_kind(&one->call, by->number, by->name, false);
    count_call(by->kind, &one->call);
    if (completed != MPI_UNDEFINED)
        complete_calls(&one->call, by->kind, one->handles, one->count, places, one->handles ? completed : 0, by->first);
    finish_call();
    if (one->handles != one->few)
        free(one->handles);
}

static void start_requests(struct call *call, int number, const char *name, const uintptr_t *handles, int count) {
    struct call one = *call;
    if (count == 0)
        count_call(find_kind(call, number, name, false), call);
    one.end = call->begin + (call->end - call->begin) / (unsigned)(count > 0 ? count : 1);
    for (int i = 0; i < count; i++) {
        struct request *const found = find_request(handles[i]);
        if (!found || !found->persistent)
            continue;
        struct kind *const kind = found->kind;
        one.bytes = kind->is.bytes;
        one.root = kind->is.root;
        one.gaps = kind->is.gaps;
        struct group group = {.ranks = kind->is.ranks};
        one.group = kind->is.ranks ? &group : 0;
        struct kind *const started = find_kind(&one, kind->is.call, kind->name, true);
        count_call(started, &one);
        if (kind->partners[0].calls && !started->partners[0].calls)
            memcpy(started->partners, kind->partners, sizeof kind->partners);
        found->kind = started;
        found->begin = call->begin;
        found->active = 1;
        found->message = log_message(started, call, found->end, false);
        found->level = header->message_level;
    }
}

/* --- from C and, where the library's Fortran does not call these, from Fortran --- */

#define CALL(name, parameters, arguments, requests_, count_, fortran, number, places, completed, first) \
    int name parameters { \
        static int(*next) parameters; \
        static struct completer by = {0, "MPI_" #number, number, first}; \
        struct completion one; \
        if (!next) \
            next = (int(*) parameters)(intptr_t)find_next(#name); \
        if (!begin_completion(&one, requests_, count_, fortran)) \
            return next arguments; \
        const int answer = next arguments; \
        end_completion(&one, &by, places, completed); \
        return answer; \
    }
#define C_CALL(name, parameters, arguments, requests_, count_, number, places, completed) \
    CALL(name, parameters, arguments, requests_, count_, false, number, places, completed, 0)

C_CALL(MPI_Wait, (MPI_Request * request, MPI_Status *status), (request, status), request, 1, Wait, 0, 1)
C_CALL(MPI_Waitall, (int count, MPI_Request list[], MPI_Status statuses[]), (count, list, statuses), list, count, Waitall, 0,
       count)
C_CALL(MPI_Waitany, (int count, MPI_Request list[], int *index, MPI_Status *status), (count, list, index, status), list, count,
       Waitany, index, *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1)
C_CALL(MPI_Waitsome, (int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]),
       (count, list, done, indices, statuses), list, count, Waitsome, indices, *done)
C_CALL(MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status), request, 1, Test, 0, !!*flag)
C_CALL(MPI_Testall, (int count, MPI_Request list[], int *flag, MPI_Status statuses[]), (count, list, flag, statuses), list, count,
       Testall, 0, *flag ? count : 0)
C_CALL(MPI_Testany, (int count, MPI_Request list[], int *index, int *flag, MPI_Status *status),
       (count, list, index, flag, status), list, count, Testany, index, *flag && *index != MPI_UNDEFINED ? 1 : 0)
C_CALL(MPI_Testsome, (int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]),
       (count, list, done, indices, statuses), list, count, Testsome, indices, *done)

#define STARTS(name, parameters, arguments, list, count_, fortran) \
    int name parameters { \
        static int(*next) parameters; \
        struct completion one; \
        if (!next) \
            next = (int(*) parameters)(intptr_t)find_next(#name); \
        if (!begin_completion(&one, list, count_, fortran)) \
            return next arguments; \
        const int answer = next arguments; \
        leave_call(&one.call); \
        start_requests(&one.call, Start, "MPI_Start", one.handles, one.count); \
        finish_call(); \
        if (one.handles != one.few) \
            free(one.handles); \
        return answer; \
    }
STARTS(MPI_Start, (MPI_Request * request), (request), request, 1, false)
STARTS(MPI_Startall, (int count, MPI_Request list[]), (count, list), list, count, false)

#define FREES(name, parameters, arguments, request, fortran) \
    int name parameters { \
        static int(*next) parameters; \
        uintptr_t handle; \
        if (!next) \
            next = (int(*) parameters)(intptr_t)find_next(#name); \
        if (recording) { \
            copy_handles(&handle, request, 1, fortran); \
            if (threaded) \
                lock_tables(); \
            forget_request(handle); \
            if (threaded) \
                unlock_tables(); \
        } \
        return next arguments; \
    }
FREES(MPI_Request_free, (MPI_Request * request), (request), request, false)

/* Fortran's calls are subroutines; what they leave in a register is nothing, and is returned as that. */
#define F_CALLS(suffix) \
    CALL(mpi_wait##suffix, (MPI_Fint * request, void *status, MPI_Fint *error), (request, status, error), request, 1, true, \
         Wait, 0, 1, 1) \
    CALL(mpi_waitall##suffix, (MPI_Fint * count, MPI_Fint * list, void *statuses, MPI_Fint *error), \
         (count, list, statuses, error), list, *count, true, Waitall, 0, *count, 1) \
    CALL(mpi_waitany##suffix, (MPI_Fint * count, MPI_Fint * list, MPI_Fint * index, void *status, MPI_Fint *error), \
         (count, list, index, status, error), list, *count, true, Waitany, index, *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1, \
         1) \
    CALL(mpi_waitsome##suffix, \
         (MPI_Fint * count, MPI_Fint * list, MPI_Fint * done, MPI_Fint * indices, void *statuses, MPI_Fint *error), \
         (count, list, done, indices, statuses, error), list, *count, true, Waitsome, indices, *done, 1) \
    CALL(mpi_test##suffix, (MPI_Fint * request, MPI_Fint * flag, void *status, MPI_Fint *error), (request, flag, status, error), \
         request, 1, true, Test, 0, !!*flag, 1) \
    CALL(mpi_testall##suffix, (MPI_Fint * count, MPI_Fint * list, MPI_Fint * flag, void *statuses, MPI_Fint *error), \
         (count, list, flag, statuses, error), list, *count, true, Testall, 0, *flag ? *count : 0, 1) \
    CALL(mpi_testany##suffix, \
         (MPI_Fint * count, MPI_Fint * list, MPI_Fint * index, MPI_Fint * flag, void *status, MPI_Fint *error), \
         (count, list, index, flag, status, error), list, *count, true, Testany, index, \
         *flag && *index != MPI_UNDEFINED ? 1 : 0, 1) \
    CALL(mpi_testsome##suffix, \
         (MPI_Fint * count, MPI_Fint * list, MPI_Fint * done, MPI_Fint * indices, void *statuses, MPI_Fint *error), \
         (count, list, done, indices, statuses, error), list, *count, true, Testsome, indices, *done, 1) \
    STARTS(mpi_start##suffix, (MPI_Fint * request, MPI_Fint * error), (request, error), request, 1, true) \
    STARTS(mpi_startall##suffix, (MPI_Fint * count, MPI_Fint * list, MPI_Fint * error), (count, list, error), list, *count, \
           true) \
    FREES(mpi_request_free##suffix, (MPI_Fint * request, MPI_Fint * error), (request, error), request, true)
F_CALLS(_f08_)
#ifdef OPEN_MPI
F_CALLS(_)
#endif
