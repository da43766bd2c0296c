/* A library that stands between the core and MPI and spoils results, to see whether the data checks notice.
 *
 * FLIP names the calls whose results are spoilt, divided by commas: a byte is raised by 1 by the first of them, by 2 by the
 * second and so on, so that it says who spoilt it. FLIP_AFTER is how many results are left alone first, FLIP_UNTIL after how many
 * all are left alone again, FLIP_AT which byte: first, middle or last. What a request or an epoch delivers is spoilt when it is
 * over; what is handed over to another rank's memory is spoilt in a copy, which lives as long. FLIP_HOW is another way to spoil:
 * `truncate` leaves the second half as it was before, `swap` exchanges the halves, `double` delivers the first for both, `delay`
 * delivers what the call before it brought, `exchange` delivers every second message in the place of the one before it, and
 * `later` delivers at the rank's next MPI call, and `postpone` changes another rank's memory only at the origin's next call after those
 * that should have done it. Preloaded into the core by the test. */
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The core's own messages have tags from this on, and are never touched. */
enum { TAGS_OF_THE_CORE = 7001 };

/* --- what is spoilt --- */

/* By how much a call's results are raised; 0: not at all. */
static int raise_of(const char *call) {
    const size_t length = strlen(call);
    int raise = 1;
    for (const char *at = getenv("FLIP"); at; at = strchr(at, ','), raise++) {
        at += *at == ',';
        if (strncmp(at, call, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return raise;
    }
    return 0;
}

static long number_of(const char *name, long usual) {
    return getenv(name) ? atol(getenv(name)) : usual;
}

static bool due(void) {
    static long results;
    results++;
    return results > number_of("FLIP_AFTER", 0) && results <= number_of("FLIP_UNTIL", LONG_MAX);
}

/* What the core fills buffers with before anything is received. */
enum { UNTOUCHED = 0xA5 };

static void swap(unsigned char *first, unsigned char *second, long bytes) {
    for (long i = 0; i < bytes; i++) {
        const unsigned char byte = first[i];
        first[i] = second[i];
        second[i] = byte;
    }
}

/* What each place was to have got last. */
struct owed {
    struct owed *next;
    const void *place;
    long bytes;
    unsigned char *data;
};

static void delay(const void *place, unsigned char *data, long bytes) {
    static struct owed *all;
    struct owed *owed = all;
    while (owed && (owed->place != place || owed->bytes != bytes))
        owed = owed->next;
    if (!owed) {
        owed = malloc(sizeof *owed);
        *owed = (struct owed){.next = all, .place = place, .bytes = bytes, .data = malloc((size_t)bytes)};
        memset(owed->data, UNTOUCHED, (size_t)bytes);
        all = owed;
    }
    swap(owed->data, data, bytes);
}

static void exchange(unsigned char *data, long bytes) {
    static unsigned char *before;
    if (before)
        swap(before, data, bytes);
    before = before ? NULL : data;
}

/* What is delivered at the next call. */
static struct {
    unsigned char *place, *data;
    long bytes;
} queue[64];
static int queued;

static void hold_back(unsigned char *data, long bytes) {
    if (queued == 64)
        return;
    queue[queued].place = data;
    queue[queued].data = memcpy(malloc((size_t)bytes), data, (size_t)bytes);
    queue[queued++].bytes = bytes;
    memset(data, UNTOUCHED, (size_t)bytes);
}

static void deliver(void) {
    while (queued > 0) {
        queued--;
        memcpy(queue[queued].place, queue[queued].data, (size_t)queue[queued].bytes);
        free(queue[queued].data);
    }
}

/* `place`: which memory it is that gets or gives the data, where they lie in a copy. */
static void change(const void *place, void *data, long bytes, int raise) {
    const char *how = getenv("FLIP_HOW") ? getenv("FLIP_HOW") : "raise", *at = getenv("FLIP_AT") ? getenv("FLIP_AT") : "last";
    unsigned char *const target = data;
    const long half = bytes / 2;
    if (strcmp(how, "truncate") == 0)
        memset(target + half, UNTOUCHED, (size_t)(bytes - half));
    else if (strcmp(how, "swap") == 0)
        swap(target, target + half, half);
    else if (strcmp(how, "double") == 0)
        memcpy(target + half, target, (size_t)half);
    else if (strcmp(how, "delay") == 0)
        delay(place, target, bytes);
    else if (strcmp(how, "exchange") == 0)
        exchange(target, bytes);
    else if (strcmp(how, "later") == 0)
        hold_back(target, bytes);
    else if (strcmp(how, "postpone") == 0)
        return;
    else
        target[*at == 'f' ? 0 : *at == 'm' ? half : bytes - 1] += (unsigned char)raise;
}

static void spoil(void *data, long bytes, int raise) {
    if (raise > 0 && data && data != MPI_IN_PLACE && bytes > 0 && due())
        change(data, data, bytes, raise);
}

/* --- results that are there later --- */

struct result {
    struct result *next;
    MPI_Request request;
    bool persistent;
    MPI_Win window;
    void *data;
    long bytes;
    int raise;
    /* Data handed over in place of the true ones. */
    void *copy;
};
static struct result *results;

static void expect(struct result result) {
    struct result *new = malloc(sizeof *new);
    *new = result;
    new->next = results;
    results = new;
}

static void take_out(struct result **place) {
    struct result *result = *place;
    *place = result->next;
    free(result->copy);
    free(result);
}

static void end_request(MPI_Request request, bool spoils) {
    for (struct result **place = &results; *place && request != MPI_REQUEST_NULL;) {
        struct result *result = *place;
        const bool ends = result->request == request;
        if (ends && spoils)
            spoil(result->data, result->bytes, result->raise);
        if (ends && !(spoils && result->persistent))
            take_out(place);
        else
            place = &result->next;
    }
}

static int end_epoch(int code, MPI_Win window) {
    for (struct result **place = &results; *place;) {
        if ((*place)->window != window) {
            place = &(*place)->next;
            continue;
        }
        spoil((*place)->data, (*place)->bytes, (*place)->raise);
        take_out(place);
    }
    return code;
}

static int now(const char *call, int code, void *data, long bytes) {
    spoil(data, bytes, raise_of(call));
    return code;
}

static int later(const char *call, int code, MPI_Request *request, void *data, long bytes) {
    const bool persistent = strstr(call, "_init") != NULL;
    const int raise = raise_of(call);
    if (raise > 0)
        expect((struct result){
            .request = *request, .persistent = persistent, .window = MPI_WIN_NULL, .data = data, .bytes = bytes, .raise = raise});
    return code;
}

static int with_epoch(const char *call, int code, MPI_Win window, void *data, long bytes) {
    const int raise = raise_of(call);
    if (raise > 0)
        expect((struct result){.request = MPI_REQUEST_NULL, .window = window, .data = data, .bytes = bytes, .raise = raise});
    return code;
}

static const void *handed_over(const char *call, MPI_Win window, const void *data, long bytes) {
    const int raise = raise_of(call);
    if (raise == 0 || bytes == 0 || !due())
        return data;
    void *copy = memcpy(malloc((size_t)bytes), data, (size_t)bytes);
    change(data, copy, bytes, raise);
    expect((struct result){.request = MPI_REQUEST_NULL, .window = window, .copy = copy});
    return copy;
}

/* --- what leaves later than the calls that are to complete it --- */

static struct postponed {
    const void *data, *expected;
    int count, rank, target_count;
    MPI_Datatype type, target_type;
    MPI_Aint place;
    /* MPI_OP_NULL: it is put. */
    MPI_Op operation;
    MPI_Win window;
} postponed[1024];
static int postponed_count, locks;

static bool postpones(const char *call) {
    const char *how = getenv("FLIP_HOW");
    return how && strcmp(how, "postpone") == 0 && raise_of(call) > 0 && postponed_count < 1024 && due();
}

static void leave(const struct postponed *call) {
    if (locks == 0)
        PMPI_Win_lock(MPI_LOCK_SHARED, call->rank, 0, call->window);
    long previous;
    if (call->expected)
        PMPI_Compare_and_swap(call->data, call->expected, &previous, call->type, call->rank, call->place, call->window);
    else if (call->operation == MPI_OP_NULL)
        PMPI_Put(call->data, call->count, call->type, call->rank, call->place, call->target_count, call->target_type,
                 call->window);
    else
        PMPI_Accumulate(call->data, call->count, call->type, call->rank, call->place, call->target_count, call->target_type,
                        call->operation, call->window);
    if (locks == 0)
        PMPI_Win_unlock(call->rank, call->window);
    else
        PMPI_Win_flush(call->rank, call->window);
}

static void leave_all(void) {
    for (int i = 0; i < postponed_count; i++)
        leave(&postponed[i]);
    postponed_count = 0;
}

/* --- how many bytes there are --- */

static long size_of(MPI_Count count, MPI_Datatype type) {
    int bytes;
    PMPI_Type_size(type, &bytes);
    return (long)count * bytes;
}

static int ranks_of(MPI_Comm comm) {
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

static int rank_of(MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int neighbours_of(MPI_Comm comm) {
    int topology, from, to, weighted;
    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART)
        return PMPI_Cartdim_get(comm, &from), 2 * from;
    PMPI_Dist_graph_neighbors_count(comm, &from, &to, &weighted);
    return from;
}

static long sum(const int *counts, int blocks) {
    long all = 0;
    for (int i = 0; i < blocks; i++)
        all += counts[i];
    return all;
}

/* --- completion --- */

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    deliver();
    const MPI_Request before = *request;
    const int code = PMPI_Wait(request, status);
    end_request(before, true);
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    deliver();
    const MPI_Request before = *request;
    const int code = PMPI_Test(request, flag, status);
    if (*flag)
        end_request(before, true);
    return code;
}

static MPI_Request *copied(int n, const MPI_Request *requests) {
    const size_t bytes = (size_t)n * sizeof *requests;
    return memcpy(malloc(bytes + 1), requests, bytes);
}

static void end_requests(int n, MPI_Request *before, bool flag) {
    for (int i = 0; i < n && flag; i++)
        end_request(before[i], true);
    free(before);
}

int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses) {
    deliver();
    MPI_Request *before = copied(n, requests);
    const int code = PMPI_Waitall(n, requests, statuses);
    end_requests(n, before, true);
    return code;
}

int MPI_Testall(int n, MPI_Request *requests, int *flag, MPI_Status *statuses) {
    deliver();
    MPI_Request *before = copied(n, requests);
    const int code = PMPI_Testall(n, requests, flag, statuses);
    end_requests(n, before, *flag);
    return code;
}

int MPI_Request_free(MPI_Request *request) {
    end_request(*request, false);
    return PMPI_Request_free(request);
}

#define ENDS_EPOCH(call, parameters, ...) \
    int MPI_Win_##call parameters { \
        deliver(); \
        return end_epoch(PMPI_Win_##call(__VA_ARGS__), w); \
    }
ENDS_EPOCH(flush, (int rank, MPI_Win w), rank, w)
ENDS_EPOCH(flush_all, (MPI_Win w), w)
ENDS_EPOCH(flush_local, (int rank, MPI_Win w), rank, w)
ENDS_EPOCH(flush_local_all, (MPI_Win w), w)
ENDS_EPOCH(fence, (int assertion, MPI_Win w), assertion, w)
ENDS_EPOCH(complete, (MPI_Win w), w)

#define LOCKS(call, by, parameters, ...) \
    int MPI_Win_##call parameters { \
        leave_all(); \
        locks += by; \
        return PMPI_Win_##call(__VA_ARGS__); \
    }
#define UNLOCKS(call, parameters, ...) \
    int MPI_Win_##call parameters { \
        deliver(); \
        locks--; \
        return end_epoch(PMPI_Win_##call(__VA_ARGS__), w); \
    }
LOCKS(lock, 1, (int kind, int rank, int assertion, MPI_Win w), kind, rank, assertion, w)
LOCKS(lock_all, 1, (int assertion, MPI_Win w), assertion, w)
LOCKS(sync, 0, (MPI_Win w), w)
LOCKS(free, 0, (MPI_Win * w), w)
UNLOCKS(unlock, (int rank, MPI_Win w), rank, w)
UNLOCKS(unlock_all, (MPI_Win w), w)

/* --- point-to-point --- */

int MPI_Send(const void *s, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) {
    deliver();
    leave_all();
    return PMPI_Send(s, n, t, to, tag, c);
}

#define COMMA ,
#define ORIGIN int from COMMA int tag COMMA MPI_Comm c
#define RECEIVED(Count) void *b COMMA Count n COMMA MPI_Datatype t COMMA ORIGIN
#define SENT const void *s COMMA int m COMMA MPI_Datatype u COMMA int to COMMA int out
#define BOUNCED void *b COMMA int n COMMA MPI_Datatype t COMMA int to COMMA int out COMMA ORIGIN

#define DELIVERS(call, parameters, ...) \
    int MPI_##call(parameters, MPI_Status *status) { \
        deliver(); \
        leave_all(); \
        const int code = PMPI_##call(__VA_ARGS__, status); \
        return tag < TAGS_OF_THE_CORE ? now("MPI_" #call, code, b, size_of(n, t)) : code; \
    }
#define WILL_DELIVER(call, parameters, ...) \
    int MPI_##call(parameters, MPI_Request *r) { \
        const int code = PMPI_##call(__VA_ARGS__, r); \
        return tag < TAGS_OF_THE_CORE ? later("MPI_" #call, code, r, b, size_of(n, t)) : code; \
    }
DELIVERS(Recv, RECEIVED(int), b, n, t, from, tag, c)
DELIVERS(Recv_c, RECEIVED(MPI_Count), b, n, t, from, tag, c)
DELIVERS(Sendrecv, SENT COMMA RECEIVED(int), s, m, u, to, out, b, n, t, from, tag, c)
DELIVERS(Sendrecv_replace, BOUNCED, b, n, t, to, out, from, tag, c)
WILL_DELIVER(Irecv, RECEIVED(int), b, n, t, from, tag, c)
WILL_DELIVER(Irecv_c, RECEIVED(MPI_Count), b, n, t, from, tag, c)
WILL_DELIVER(Isendrecv, SENT COMMA RECEIVED(int), s, m, u, to, out, b, n, t, from, tag, c)
WILL_DELIVER(Isendrecv_replace, BOUNCED, b, n, t, to, out, from, tag, c)
WILL_DELIVER(Recv_init, RECEIVED(int), b, n, t, from, tag, c)
WILL_DELIVER(Recv_init_c, RECEIVED(MPI_Count), b, n, t, from, tag, c)

int MPI_Mrecv(void *b, int n, MPI_Datatype t, MPI_Message *message, MPI_Status *status) {
    return now("MPI_Mrecv", PMPI_Mrecv(b, n, t, message, status), b, size_of(n, t));
}

int MPI_Imrecv(void *b, int n, MPI_Datatype t, MPI_Message *message, MPI_Request *r) {
    return later("MPI_Imrecv", PMPI_Imrecv(b, n, t, message, r), r, b, size_of(n, t));
}

int MPI_Precv_init(void *b, int parts, MPI_Count n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Info i, MPI_Request *r) {
    return later("MPI_Precv_init", PMPI_Precv_init(b, parts, n, t, from, tag, c, i, r), r, b, size_of(n * parts, t));
}

/* --- local --- */

int MPI_Pack(const void *s, int n, MPI_Datatype t, void *b, int room, int *place, MPI_Comm c) {
    const int begin = *place, code = PMPI_Pack(s, n, t, b, room, place, c);
    return now("MPI_Pack", code, (char *)b + begin, *place - begin);
}

int MPI_Unpack(const void *s, int room, int *place, void *b, int n, MPI_Datatype t, MPI_Comm c) {
    return now("MPI_Unpack", PMPI_Unpack(s, room, place, b, n, t, c), b, size_of(n, t));
}

int MPI_Reduce_local(const void *s, void *b, int n, MPI_Datatype t, MPI_Op o) {
    return now("MPI_Reduce_local", PMPI_Reduce_local(s, b, n, t, o), b, size_of(n, t));
}

/* --- collectives: each in three forms; `data` and `bytes` say where its result lies --- */

#define FORMS(Name, name, large, parameters, data, bytes, ...) \
    int MPI_##Name##large(parameters, MPI_Comm c) { \
        deliver(); \
        return now("MPI_" #Name #large, PMPI_##Name##large(__VA_ARGS__, c), data, bytes); \
    } \
    int MPI_I##name##large(parameters, MPI_Comm c, MPI_Request *r) { \
        return later("MPI_I" #name #large, PMPI_I##name##large(__VA_ARGS__, c, r), r, data, bytes); \
    } \
    int MPI_##Name##_init##large(parameters, MPI_Comm c, MPI_Info i, MPI_Request *r) { \
        return later("MPI_" #Name "_init" #large, PMPI_##Name##_init##large(__VA_ARGS__, c, i, r), r, data, bytes); \
    }
#define FROM const void *s COMMA int n COMMA MPI_Datatype t
#define FROM_V const void *s COMMA const int *ns COMMA const int *ds COMMA MPI_Datatype t
#define INTO void *b COMMA int m COMMA MPI_Datatype u
#define INTO_V void *b COMMA const int *ms COMMA const int *es COMMA MPI_Datatype u
#define BLOCKS(Place) \
    const void *s COMMA const int *ns COMMA const Place *ds COMMA const MPI_Datatype *ts COMMA void *b COMMA const int *ms \
        COMMA const Place *es COMMA const MPI_Datatype *us
#define REDUCED(Count) const void *s COMMA void *b COMMA const Count n COMMA MPI_Datatype t COMMA MPI_Op o
#define ROOT COMMA int root
#define AT_ROOT rank_of(c) == root ? b : NULL
#define BUT_ROOT rank_of(c) == root ? NULL : b

#define ALL_RANKS(type) size_of(sum(ms, ranks_of(c)), type)
#define ALL_NEIGHBOURS(type) size_of(sum(ms, neighbours_of(c)), type)

FORMS(Bcast, bcast, , void *b COMMA int n COMMA MPI_Datatype t ROOT, BUT_ROOT, size_of(n, t), b, n, t, root)
FORMS(Bcast, bcast, _c, void *b COMMA MPI_Count n COMMA MPI_Datatype t ROOT, BUT_ROOT, size_of(n, t), b, n, t, root)
FORMS(Gather, gather, , FROM COMMA INTO ROOT, AT_ROOT, size_of(m, u) * ranks_of(c), s, n, t, b, m, u, root)
FORMS(Gatherv, gatherv, , FROM COMMA INTO_V ROOT, AT_ROOT, ALL_RANKS(u), s, n, t, b, ms, es, u, root)
FORMS(Scatter, scatter, , FROM COMMA INTO ROOT, b, size_of(m, u), s, n, t, b, m, u, root)
FORMS(Scatterv, scatterv, , FROM_V COMMA INTO ROOT, b, size_of(m, u), s, ns, ds, t, b, m, u, root)
FORMS(Allgather, allgather, , FROM COMMA INTO, b, size_of(m, u) * ranks_of(c), s, n, t, b, m, u)
FORMS(Allgatherv, allgatherv, , FROM COMMA INTO_V, b, ALL_RANKS(u), s, n, t, b, ms, es, u)
FORMS(Alltoall, alltoall, , FROM COMMA INTO, b, size_of(m, u) * ranks_of(c), s, n, t, b, m, u)
FORMS(Alltoallv, alltoallv, , FROM_V COMMA INTO_V, b, ALL_RANKS(u), s, ns, ds, t, b, ms, es, u)
FORMS(Alltoallw, alltoallw, , BLOCKS(int), b, ALL_RANKS(us[0]), s, ns, ds, ts, b, ms, es, us)
FORMS(Reduce, reduce, , REDUCED(int) ROOT, AT_ROOT, size_of(n, t), s, b, n, t, o, root)
FORMS(Allreduce, allreduce, , REDUCED(int), b, size_of(n, t), s, b, n, t, o)
FORMS(Allreduce, allreduce, _c, REDUCED(MPI_Count), b, size_of(n, t), s, b, n, t, o)
FORMS(Reduce_scatter, reduce_scatter, , REDUCED(int *), b, size_of(n[rank_of(c)], t), s, b, n, t, o)
FORMS(Reduce_scatter_block, reduce_scatter_block, , REDUCED(int), b, size_of(n, t), s, b, n, t, o)
FORMS(Scan, scan, , REDUCED(int), b, size_of(n, t), s, b, n, t, o)
FORMS(Exscan, exscan, , REDUCED(int), b, size_of(n, t), s, b, n, t, o)
FORMS(Neighbor_allgather, neighbor_allgather, , FROM COMMA INTO, b, size_of(m, u) * neighbours_of(c), s, n, t, b, m, u)
FORMS(Neighbor_allgatherv, neighbor_allgatherv, , FROM COMMA INTO_V, b, ALL_NEIGHBOURS(u), s, n, t, b, ms, es, u)
FORMS(Neighbor_alltoall, neighbor_alltoall, , FROM COMMA INTO, b, size_of(m, u) * neighbours_of(c), s, n, t, b, m, u)
FORMS(Neighbor_alltoallv, neighbor_alltoallv, , FROM_V COMMA INTO_V, b, ALL_NEIGHBOURS(u), s, ns, ds, t, b, ms, es, u)
FORMS(Neighbor_alltoallw, neighbor_alltoallw, , BLOCKS(MPI_Aint), b, ALL_NEIGHBOURS(us[0]), s, ns, ds, ts, b, ms, es, us)

/* --- one-sided: what comes is spoilt when it is there, what goes before it leaves --- */

#define COMES(Name, name, parameters, bytes, ...) \
    int MPI_##Name(parameters, MPI_Win w) { \
        return with_epoch("MPI_" #Name, PMPI_##Name(__VA_ARGS__, w), w, b, bytes); \
    } \
    int MPI_R##name(parameters, MPI_Win w, MPI_Request *r) { \
        return later("MPI_R" #name, PMPI_R##name(__VA_ARGS__, w, r), r, b, bytes); \
    }
#define GOES(Name, name, op, parameters, ...) \
    int MPI_##Name(const void *s, int n, MPI_Datatype t, parameters, MPI_Win w) { \
        if (postpones("MPI_" #Name)) { \
            postponed[postponed_count++] = (struct postponed){s, NULL, n, rank, k, t, v, place, op, w}; \
            return MPI_SUCCESS; \
        } \
        return PMPI_##Name(handed_over("MPI_" #Name, w, s, size_of(n, t)), n, t, __VA_ARGS__, w); \
    } \
    int MPI_R##name(const void *s, int n, MPI_Datatype t, parameters, MPI_Win w, MPI_Request *r) { \
        if (postpones("MPI_R" #name)) { \
            postponed[postponed_count++] = (struct postponed){s, NULL, n, rank, k, t, v, place, op, w}; \
            *r = MPI_REQUEST_NULL; \
            return MPI_SUCCESS; \
        } \
        return PMPI_R##name(handed_over("MPI_R" #name, w, s, size_of(n, t)), n, t, __VA_ARGS__, w, r); \
    }
#define TARGET int rank COMMA MPI_Aint place COMMA int k COMMA MPI_Datatype v

GOES(Put, put, MPI_OP_NULL, TARGET, rank, place, k, v)
GOES(Accumulate, accumulate, o, TARGET COMMA MPI_Op o, rank, place, k, v, o)
COMES(Get, get, INTO COMMA TARGET, size_of(m, u), b, m, u, rank, place, k, v)

#define UPDATE TARGET COMMA MPI_Op o
/* What the target holds comes in time, and what is to change it does not leave. */
#define READ_ONLY(s, n, t, b, m, u, rank, place, k, v, o, w) \
    postponed[postponed_count++] = (struct postponed){s, NULL, n, rank, k, t, v, place, o, w}; \
    return PMPI_Get_accumulate(s, n, t, b, m, u, rank, place, k, v, MPI_NO_OP, w);

int MPI_Get_accumulate(FROM, INTO, UPDATE, MPI_Win w) {
    if (postpones("MPI_Get_accumulate")) {
        READ_ONLY(s, n, t, b, m, u, rank, place, k, v, o, w)
    }
    const int code = PMPI_Get_accumulate(s, n, t, b, m, u, rank, place, k, v, o, w);
    return with_epoch("MPI_Get_accumulate", code, w, b, size_of(m, u));
}

int MPI_Rget_accumulate(FROM, INTO, UPDATE, MPI_Win w, MPI_Request *r) {
    if (postpones("MPI_Rget_accumulate")) {
        *r = MPI_REQUEST_NULL;
        READ_ONLY(s, n, t, b, m, u, rank, place, k, v, o, w)
    }
    const int code = PMPI_Rget_accumulate(s, n, t, b, m, u, rank, place, k, v, o, w, r);
    return later("MPI_Rget_accumulate", code, r, b, size_of(m, u));
}

int MPI_Fetch_and_op(const void *s, void *b, MPI_Datatype t, int rank, MPI_Aint place, MPI_Op o, MPI_Win w) {
    if (postpones("MPI_Fetch_and_op")) {
        READ_ONLY(s, 1, t, b, 1, t, rank, place, 1, t, o, w)
    }
    return with_epoch("MPI_Fetch_and_op", PMPI_Fetch_and_op(s, b, t, rank, place, o, w), w, b, size_of(1, t));
}

int MPI_Compare_and_swap(const void *s, const void *x, void *b, MPI_Datatype t, int rank, MPI_Aint place, MPI_Win w) {
    if (postpones("MPI_Compare_and_swap")) {
        postponed[postponed_count++] = (struct postponed){s, x, 1, rank, 1, t, t, place, MPI_REPLACE, w};
        return PMPI_Get_accumulate(s, 1, t, b, 1, t, rank, place, 1, t, MPI_NO_OP, w);
    }
    return with_epoch("MPI_Compare_and_swap", PMPI_Compare_and_swap(s, x, b, t, rank, place, w), w, b, size_of(1, t));
}
