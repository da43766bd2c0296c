/* Nonblocking and persistent calls: when each was started, and the calls that complete them.
 *
 * A library may give one handle to several calls that are complete at once; their starts are summed. */
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

enum { BUCKET = 8, REQUESTS = 32768, BUCKETS = REQUESTS / BUCKET, REACH = 8, FEW = 32, TESTED = 16 };
enum { Wait = 900, Waitall, Waitany, Waitsome, Test, Testall, Testany, Testsome, Start };

struct request {
    uintptr_t handle;
    struct kind *kind;
    uint64_t begin; /* sum over active calls */
    uint64_t active : 23, persistent : 1;
    uint64_t tested : 40; /* TESTED ticks in calls that completed nothing: as if they were a part of the one that will */
    struct channel_end end;
    struct posted posted;
};
static struct request requests[REQUESTS];

static uint8_t spilled[BUCKETS]; /* how many of a bucket's requests are in those behind it */

static size_t find_bucket(uintptr_t handle) {
    return (handle ^ handle >> 5 ^ handle >> 15) % BUCKETS;
}

/* A request with this handle, or, of calls of one kind that may share it, of that kind; 0: there is none. */
static struct request *find_request(uintptr_t handle, const struct kind *kind) {
    const size_t home = find_bucket(handle);
    for (size_t step = 0; step == 0 || (spilled[home] && step < REACH); step++) {
        struct request *const bucket = &requests[(home + step) % BUCKETS * BUCKET];
        for (int i = 0; i < BUCKET; i++)
            if (bucket[i].kind && bucket[i].handle == handle && (!kind || (bucket[i].kind == kind && !bucket[i].persistent)))
                return &bucket[i];
    }
    return 0;
}

static struct request *find_room(uintptr_t handle) {
    const size_t home = find_bucket(handle);
    for (size_t step = 0; step < REACH; step++) {
        struct request *const bucket = &requests[(home + step) % BUCKETS * BUCKET];
        for (int i = 0; i < BUCKET; i++)
            if (!bucket[i].kind) {
                spilled[home] += step > 0;
                return &bucket[i];
            }
    }
    return 0;
}

static void free_request(struct request *one) {
    const size_t home = find_bucket(one->handle);
    spilled[home] -= (size_t)(one - requests) / BUCKET != home;
    *one = (struct request){0};
}

void track_request(struct kind *kind, MPI_Request request, const struct call *call, bool persistent, struct channel_end end) {
    const uintptr_t handle = (uintptr_t)request;
    struct request *place = persistent ? 0 : find_request(handle, kind);
    if (!place)
        place = find_room(handle);
    if (!place) {
        header->lost_requests++;
        if (!persistent)
            post_message(kind, call, end, false, 0);
        return;
    }
    detach_receive(&place->posted);
    const struct request before = place->kind ? *place : (struct request){0};
    *place = (struct request){.handle = handle, .kind = kind, .persistent = persistent, .end = end};
    if (persistent)
        return;
    place->begin = before.begin + call->begin;
    place->active = before.active + 1;
    post_message(kind, call, end, false, before.active ? 0 : &place->posted);
}

static void forget_request(uintptr_t handle) {
    struct request *const found = find_request(handle, 0);
    if (!found)
        return;
    detach_receive(&found->posted);
    free_request(found);
}

/* A cancelled receive takes no message, or one, which only its status says: too late where it has a number already. */
static void forget_message(uintptr_t handle) {
    struct request *const found = find_request(handle, 0);
    if (!found || cancel_receive(&found->posted))
        return;
    if (found->active && found->end.group && !found->end.sent && found->end.group->identity == found->end.communicator)
        found->end.group->has_wildcards = true;
    detach_receive(&found->posted);
}

/* One active call of a handle is complete; returns its kind. Requests to nobody may have the same handle. */
static struct kind *complete(uintptr_t handle, const struct call *call, const MPI_Status *status) {
    struct request *const found = find_request(handle, 0);
    if (!found || !found->active)
        return 0;
    struct kind *const kind = found->kind;
    const uint64_t begin = found->begin / found->active;
    kind->completed++;
    kind->pending += call->end - begin;
    const struct span span = {call->begin - found->tested * TESTED, call->end, header->outside};
    finish_message(&found->posted, &span, status);
    found->tested = 0;
    found->begin -= begin;
    if (--found->active == 0 && !found->persistent)
        free_request(found);
    return kind;
}

struct completion {
    struct call call;
    uintptr_t few[FEW], *handles;
    int count;
    MPI_Status own[FEW], *made, *statuses; /* of the calls that it completes; 0: not seen */
};

/* Time in a Wait or Test belongs to the calls that it completed; if there are none, to the first that it tested. */
static void complete_calls(struct completion *one, struct kind *kind, const int *places, int completed, int first) {
    const struct call *const call = &one->call;
    uintptr_t *const handles = one->handles;
    const uint64_t ticks = call->end - call->begin;
    if (completed == 0) {
        for (int i = 0; i < one->count; i++) {
            struct request *const found = find_request(handles[i], 0);
            if (found && found->active) {
                found->kind->waited += ticks;
                found->tested += (ticks + TESTED / 2) / TESTED;
                kind->waited += ticks;
                return;
            }
        }
        return;
    }
    unsigned active = 0;
    for (int i = 0; i < completed; i++) {
        const int place = places ? places[i] - first : i;
        if (place < 0 || place >= one->count)
            continue;
        handles[place] = (uintptr_t)complete(handles[place], call, one->statuses ? &one->statuses[i] : 0);
        active += handles[place] != 0;
    }
    for (int i = 0; i < completed && active; i++) {
        const int place = places ? places[i] - first : i;
        struct kind *const its = place < 0 || place >= one->count ? 0 : (struct kind *)handles[place];
        if (its)
            its->waited += ticks / active;
    }
    if (active)
        kind->waited += ticks;
}

static uintptr_t read_handle(const void *from, int place, bool fortran) {
    return (uintptr_t)(fortran ? TO_C(Request, ((const MPI_Fint *)from)[place]) : ((const MPI_Request *)from)[place]);
}

/* Copies of handles: a completion clears those of the program. */
static uintptr_t *copy_handles(uintptr_t *few, const void *from, int count, bool fortran) {
    uintptr_t *const copy = count <= FEW ? few : malloc((size_t)count * sizeof *copy);
    for (int i = 0; copy && i < count; i++)
        copy[i] = read_handle(from, i, fortran);
    return copy;
}

/* False: the call is not counted. */
static bool begin_completion(struct completion *one, const void *requests_, int count, bool fortran) {
    if (!recording || inside)
        return false;
    one->handles = copy_handles(one->few, requests_, count, fortran);
    one->count = one->handles ? count : 0;
    one->made = one->statuses = 0;
    return enter_call(&one->call);
}

/* Statuses of the program, or, if it ignores them, others where they are needed. */
static MPI_Status *choose_statuses(struct completion *one, MPI_Status *given, bool several) {
    const bool ignored = several ? given == MPI_STATUSES_IGNORE : given == MPI_STATUS_IGNORE;
    if (!ignored)
        return one->statuses = given;
    if (!pending_any)
        return given;
    if (one->count > FEW && several)
        one->made = malloc((size_t)one->count * sizeof *given);
    one->statuses = one->count > FEW && several ? one->made : one->own;
    return one->statuses ? one->statuses : given;
}

struct completer {
    struct kind *kind; /* 0: not yet called */
    const char *name;
    int number, first;
};

/* Of a call that failed only the handles say what it completed. */
static void forget_completed(const struct completion *one, const void *requests_, bool fortran) {
    for (int i = 0; i < one->count; i++)
        if (read_handle(requests_, i, fortran) != one->handles[i])
            forget_request(one->handles[i]);
}

static void end_completion(struct completion *one, struct completer *by, const int *places, int completed) {
    if (!by->kind)
        by->kind = find_kind(&one->call, by->number, by->name, false);
    count_call(by->kind, &one->call);
    if (completed != MPI_UNDEFINED)
        complete_calls(one, by->kind, places, one->handles ? completed : 0, by->first);
    finish_call();
}

static void free_copies(struct completion *one) {
    if (one->handles != one->few)
        free(one->handles);
    free(one->made);
}

/* Time of a call that starts several is divided among them. */
static void start_requests(const struct call *call, const uintptr_t *handles, int count) {
    struct call one = *call;
    unsigned known = 0;
    for (int i = 0; i < count; i++) {
        const struct request *const found = find_request(handles[i], 0);
        known += found && found->persistent;
    }
    if (known == 0)
        count_call(find_kind(call, Start, "MPI_Start", false), call);
    one.end = call->begin + (call->end - call->begin) / (known ? known : 1);
    for (int i = 0; known && i < count; i++) {
        struct request *const found = find_request(handles[i], 0);
        if (!found || !found->persistent)
            continue;
        struct kind *const kind = found->kind;
        one.bytes = kind->is.bytes;
        one.root = kind->is.root;
        one.content = (enum content)kind->is.content;
        struct group group = {.ranks = kind->is.ranks};
        one.group = kind->is.ranks ? &group : 0;
        struct kind *const started = find_kind(&one, kind->is.call, kind->name, true);
        count_call(started, &one);
        if (kind->partners[0].calls && !started->partners[0].calls)
            memcpy(started->partners, kind->partners, sizeof kind->partners);
        found->kind = started;
        found->begin = call->begin;
        found->active = 1;
        post_message(started, call, found->end, false, &found->posted);
    }
    header->last_ticks = call->end;
}

#define FAILED (error && *error != MPI_SUCCESS) /* in Fortran */

/* --- from C and, where the library's Fortran does not call these, from Fortran --- */

#define CALL(name, parameters, arguments, requests_, count_, fortran, number, places, completed, first, status, several, failed) \
    int name parameters { \
        static int(*next) parameters; \
        static struct completer by = {0, "MPI_" #number, number, first}; \
        struct completion one; \
        MPI_Status *seen = status; \
        if (!next) \
            next = (int(*) parameters)(intptr_t)find_next(#name); \
        if (!begin_completion(&one, requests_, count_, fortran)) \
            return next arguments; \
        if (!fortran) \
            seen = choose_statuses(&one, seen, several); \
        const int answer = next arguments; \
        leave_call(&one.call); \
        if (failed) { \
            forget_completed(&one, requests_, fortran); \
            skip_call(&one.call); \
        } else { \
            end_completion(&one, &by, places, completed); \
        } \
        free_copies(&one); \
        return answer; \
    }
#define C_CALL(name, parameters, arguments, requests_, count_, number, places, completed, status, several) \
    CALL(name, parameters, arguments, requests_, count_, false, number, places, completed, 0, status, several, \
         answer != MPI_SUCCESS)
#define F_CALL(name, parameters, arguments, requests_, count_, number, places, completed) \
    CALL(name, parameters, arguments, requests_, count_, true, number, places, completed, 1, 0, false, FAILED)

C_CALL(MPI_Wait, (MPI_Request * request, MPI_Status *status), (request, seen), request, 1, Wait, 0, 1, status, false)
C_CALL(MPI_Waitall, (int count, MPI_Request list[], MPI_Status statuses[]), (count, list, seen), list, count, Waitall, 0, count,
       statuses, true)
C_CALL(MPI_Waitany, (int count, MPI_Request list[], int *index, MPI_Status *status), (count, list, index, seen), list, count,
       Waitany, index, *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1, status, false)
C_CALL(MPI_Waitsome, (int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]),
       (count, list, done, indices, seen), list, count, Waitsome, indices, *done, statuses, true)
C_CALL(MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, seen), request, 1, Test, 0, !!*flag,
       status, false)
C_CALL(MPI_Testall, (int count, MPI_Request list[], int *flag, MPI_Status statuses[]), (count, list, flag, seen), list, count,
       Testall, 0, *flag ? count : 0, statuses, true)
C_CALL(MPI_Testany, (int count, MPI_Request list[], int *index, int *flag, MPI_Status *status), (count, list, index, flag, seen),
       list, count, Testany, index, *flag && *index != MPI_UNDEFINED ? 1 : 0, status, false)
C_CALL(MPI_Testsome, (int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]),
       (count, list, done, indices, seen), list, count, Testsome, indices, *done, statuses, true)

#define STARTS(name, parameters, arguments, list, count_, fortran, failed) \
    int name parameters { \
        static int(*next) parameters; \
        struct completion one; \
        if (!next) \
            next = (int(*) parameters)(intptr_t)find_next(#name); \
        if (!begin_completion(&one, list, count_, fortran)) \
            return next arguments; \
        const int answer = next arguments; \
        leave_call(&one.call); \
        if (!(failed)) \
            start_requests(&one.call, one.handles, one.count); \
        skip_call(&one.call); \
        free_copies(&one); \
        return answer; \
    }
STARTS(MPI_Start, (MPI_Request * request), (request), request, 1, false, answer != MPI_SUCCESS)
STARTS(MPI_Startall, (int count, MPI_Request list[]), (count, list), list, count, false, answer != MPI_SUCCESS)

#define FORGETS(name, parameters, arguments, request, fortran, forget) \
    int name parameters { \
        static int(*next) parameters; \
        uintptr_t handle; \
        if (!next) \
            next = (int(*) parameters)(intptr_t)find_next(#name); \
        if (recording) { \
            copy_handles(&handle, request, 1, fortran); \
            if (threaded) \
                lock_tables(); \
            forget(handle); \
            if (threaded) \
                unlock_tables(); \
        } \
        return next arguments; \
    }
FORGETS(MPI_Request_free, (MPI_Request * request), (request), request, false, forget_request)
FORGETS(MPI_Cancel, (MPI_Request * request), (request), request, false, forget_message)

/* Fortran's calls are subroutines; what they leave in a register is nothing, and is returned as that. */
#define F_CALLS(suffix) \
    F_CALL(mpi_wait##suffix, (MPI_Fint * request, void *status, MPI_Fint *error), (request, status, error), request, 1, Wait, 0, \
           1) \
    F_CALL(mpi_waitall##suffix, (MPI_Fint * count, MPI_Fint * list, void *statuses, MPI_Fint *error), \
           (count, list, statuses, error), list, *count, Waitall, 0, *count) \
    F_CALL(mpi_waitany##suffix, (MPI_Fint * count, MPI_Fint * list, MPI_Fint * index, void *status, MPI_Fint *error), \
           (count, list, index, status, error), list, *count, Waitany, index, *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1) \
    F_CALL(mpi_waitsome##suffix, \
           (MPI_Fint * count, MPI_Fint * list, MPI_Fint * done, MPI_Fint * indices, void *statuses, MPI_Fint *error), \
           (count, list, done, indices, statuses, error), list, *count, Waitsome, indices, *done) \
    F_CALL(mpi_test##suffix, (MPI_Fint * request, MPI_Fint * flag, void *status, MPI_Fint *error), \
           (request, flag, status, error), request, 1, Test, 0, !!*flag) \
    F_CALL(mpi_testall##suffix, (MPI_Fint * count, MPI_Fint * list, MPI_Fint * flag, void *statuses, MPI_Fint *error), \
           (count, list, flag, statuses, error), list, *count, Testall, 0, *flag ? *count : 0) \
    F_CALL(mpi_testany##suffix, \
           (MPI_Fint * count, MPI_Fint * list, MPI_Fint * index, MPI_Fint * flag, void *status, MPI_Fint *error), \
           (count, list, index, flag, status, error), list, *count, Testany, index, *flag && *index != MPI_UNDEFINED ? 1 : 0) \
    F_CALL(mpi_testsome##suffix, \
           (MPI_Fint * count, MPI_Fint * list, MPI_Fint * done, MPI_Fint * indices, void *statuses, MPI_Fint *error), \
           (count, list, done, indices, statuses, error), list, *count, Testsome, indices, *done) \
    STARTS(mpi_start##suffix, (MPI_Fint * request, MPI_Fint * error), (request, error), request, 1, true, FAILED) \
    STARTS(mpi_startall##suffix, (MPI_Fint * count, MPI_Fint * list, MPI_Fint * error), (count, list, error), list, *count, \
           true, FAILED) \
    FORGETS(mpi_request_free##suffix, (MPI_Fint * request, MPI_Fint * error), (request, error), request, true, forget_request) \
    FORGETS(mpi_cancel##suffix, (MPI_Fint * request, MPI_Fint * error), (request, error), request, true, forget_message)
F_CALLS(_f08_)
#ifdef OPEN_MPI
F_CALLS(_)
#endif
