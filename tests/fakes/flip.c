/* Preloaded between the core and MPI: changes results, to test the data checks.
 *
 * FLIP        calls with changed results, comma-separated: a byte is raised by 1 by the first, by 2 by the second and so
 *             on, so that it shows which call changed it
 * FLIP_AFTER  not the first results of this number; FLIP_UNTIL: none after this number
 * FLIP_AT     which byte: first, middle or last
 * FLIP_HOW    another change: `truncate` leaves the second half as before, `swap` exchanges the halves, `double` delivers
 *             the first half twice, `delay` delivers the data of the call before, `exchange` exchanges every two
 *             messages, `finish_later` delivers at the rank's next MPI call, `postpone` changes another rank's memory only at the
 *             origin's next call after those that complete it
 *
 * Results of requests and epochs are changed when they complete; data sent to another rank's memory are changed in a copy,
 * which lives until then. */
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Messages of the core itself have tags from here on, and are not changed. */
enum { TAGS_OF_THE_CORE = 7001 };

/* --- what is spoilt --- */

/* By how much the results of a call are raised; 0: not at all. */
static int find_raise(const char *call) {
    const size_t length = strlen(call);
    int raise = 1;
    for (const char *at = getenv("FLIP"); at; at = strchr(at, ','), raise++) {
        at += *at == ',';
        if (strncmp(at, call, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return raise;
    }
    return 0;
}

static long read_number(const char *name, long usual) {
    return getenv(name) ? atol(getenv(name)) : usual;
}

static bool is_due(void) {
    static long results;
    results++;
    return results > read_number("FLIP_AFTER", 0) && results <= read_number("FLIP_UNTIL", LONG_MAX);
}

/* The core's guard byte, in receive buffers before a call. */
enum { UNTOUCHED = 0xA5 };

static void swap(unsigned char *first, unsigned char *second, long bytes) {
    for (long i = 0; i < bytes; i++) {
        const unsigned char byte = first[i];
        first[i] = second[i];
        second[i] = byte;
    }
}

/* The latest data for each place. */
struct latest {
    struct latest *next;
    const void *place;
    long bytes;
    unsigned char *data;
};

static void delay(const void *place, unsigned char *data, long bytes) {
    static struct latest *all;
    struct latest *latest = all;
    while (latest && (latest->place != place || latest->bytes != bytes))
        latest = latest->next;
    if (!latest) {
        latest = malloc(sizeof *latest);
        *latest = (struct latest){.next = all, .place = place, .bytes = bytes, .data = malloc((size_t)bytes)};
        memset(latest->data, UNTOUCHED, (size_t)bytes);
        all = latest;
    }
    swap(latest->data, data, bytes);
}

static void exchange(unsigned char *data, long bytes) {
    static unsigned char *before;
    if (before)
        swap(before, data, bytes);
    before = before ? NULL : data;
}

/* Data to be delivered at the next call. */
static struct {
    unsigned char *place, *data;
    long bytes;
} queue[64];
static int queue_length;

static void queue_data(unsigned char *data, long bytes) {
    if (queue_length == 64)
        return;
    queue[queue_length].place = data;
    queue[queue_length].data = memcpy(malloc((size_t)bytes), data, (size_t)bytes);
    queue[queue_length++].bytes = bytes;
    memset(data, UNTOUCHED, (size_t)bytes);
}

static void deliver(void) {
    while (queue_length > 0) {
        queue_length--;
        memcpy(queue[queue_length].place, queue[queue_length].data, (size_t)queue[queue_length].bytes);
        free(queue[queue_length].data);
    }
}

/* `place`: the memory that receives or sends the data, if `data` are a copy. */
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
        queue_data(target, bytes);
    else if (strcmp(how, "postpone") == 0)
        return;
    else
        target[*at == 'f' ? 0 : *at == 'm' ? half : bytes - 1] += (unsigned char)raise;
}

static void spoil(void *data, long bytes, int raise) {
    if (raise > 0 && data && data != MPI_IN_PLACE && bytes > 0 && is_due())
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
    /* Data sent in place of the true ones. */
    void *copy;
};
static struct result *results;

static void expect(struct result result) {
    struct result *new = malloc(sizeof *new);
    *new = result;
    new->next = results;
    results = new;
}

static void remove_result(struct result **place) {
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
            remove_result(place);
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
        remove_result(place);
    }
    return code;
}

static int finish_now(const char *call, int code, void *data, long bytes) {
    spoil(data, bytes, find_raise(call));
    return code;
}

static int finish_later(const char *call, int code, MPI_Request *request, void *data, long bytes) {
    const bool persistent = strstr(call, "_init") != NULL;
    const int raise = find_raise(call);
    if (raise > 0)
        expect((struct result){
            .request = *request, .persistent = persistent, .window = MPI_WIN_NULL, .data = data, .bytes = bytes, .raise = raise});
    return code;
}

static int finish_with_epoch(const char *call, int code, MPI_Win window, void *data, long bytes) {
    const int raise = find_raise(call);
    if (raise > 0)
        expect((struct result){.request = MPI_REQUEST_NULL, .window = window, .data = data, .bytes = bytes, .raise = raise});
    return code;
}

static const void *change_sent(const char *call, MPI_Win window, const void *data, long bytes) {
    const int raise = find_raise(call);
    if (raise == 0 || bytes == 0 || !is_due())
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
    /* MPI_OP_NULL: a put. */
    MPI_Op operation;
    MPI_Win window;
} postponed[1024];
static int postponed_count, locks;

static bool is_postponed(const char *call) {
    const char *how = getenv("FLIP_HOW");
    return how && strcmp(how, "postpone") == 0 && find_raise(call) > 0 && postponed_count < 1024 && is_due();
}

static void send_postponed(const struct postponed *call) {
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

static void send_all_postponed(void) {
    for (int i = 0; i < postponed_count; i++)
        send_postponed(&postponed[i]);
    postponed_count = 0;
}

/* --- how many bytes there are --- */

static long count_bytes(MPI_Count count, MPI_Datatype type) {
    int bytes;
    PMPI_Type_size(type, &bytes);
    return (long)count * bytes;
}

static int count_ranks(MPI_Comm comm) {
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

static int find_rank(MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int count_neighbours(MPI_Comm comm) {
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

static MPI_Request *copy_requests(int n, const MPI_Request *requests) {
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
    MPI_Request *before = copy_requests(n, requests);
    const int code = PMPI_Waitall(n, requests, statuses);
    end_requests(n, before, true);
    return code;
}

int MPI_Testall(int n, MPI_Request *requests, int *flag, MPI_Status *statuses) {
    deliver();
    MPI_Request *before = copy_requests(n, requests);
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
        send_all_postponed(); \
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
    send_all_postponed();
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
        send_all_postponed(); \
        const int code = PMPI_##call(__VA_ARGS__, status); \
        return tag < TAGS_OF_THE_CORE ? finish_now("MPI_" #call, code, b, count_bytes(n, t)) : code; \
    }
#define WILL_DELIVER(call, parameters, ...) \
    int MPI_##call(parameters, MPI_Request *r) { \
        const int code = PMPI_##call(__VA_ARGS__, r); \
        return tag < TAGS_OF_THE_CORE ? finish_later("MPI_" #call, code, r, b, count_bytes(n, t)) : code; \
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
    return finish_now("MPI_Mrecv", PMPI_Mrecv(b, n, t, message, status), b, count_bytes(n, t));
}

int MPI_Imrecv(void *b, int n, MPI_Datatype t, MPI_Message *message, MPI_Request *r) {
    return finish_later("MPI_Imrecv", PMPI_Imrecv(b, n, t, message, r), r, b, count_bytes(n, t));
}

int MPI_Precv_init(void *b, int parts, MPI_Count n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Info i, MPI_Request *r) {
    return finish_later("MPI_Precv_init", PMPI_Precv_init(b, parts, n, t, from, tag, c, i, r), r, b, count_bytes(n * parts, t));
}

/* --- local --- */

int MPI_Pack(const void *s, int n, MPI_Datatype t, void *b, int room, int *place, MPI_Comm c) {
    const int begin = *place, code = PMPI_Pack(s, n, t, b, room, place, c);
    return finish_now("MPI_Pack", code, (char *)b + begin, *place - begin);
}

int MPI_Unpack(const void *s, int room, int *place, void *b, int n, MPI_Datatype t, MPI_Comm c) {
    return finish_now("MPI_Unpack", PMPI_Unpack(s, room, place, b, n, t, c), b, count_bytes(n, t));
}

int MPI_Reduce_local(const void *s, void *b, int n, MPI_Datatype t, MPI_Op o) {
    return finish_now("MPI_Reduce_local", PMPI_Reduce_local(s, b, n, t, o), b, count_bytes(n, t));
}

/* --- collectives: each in three forms; `data` and `bytes` say where its result lies --- */

#define FORMS(Name, name, large, parameters, data, bytes, ...) \
    int MPI_##Name##large(parameters, MPI_Comm c) { \
        deliver(); \
        return finish_now("MPI_" #Name #large, PMPI_##Name##large(__VA_ARGS__, c), data, bytes); \
    } \
    int MPI_I##name##large(parameters, MPI_Comm c, MPI_Request *r) { \
        return finish_later("MPI_I" #name #large, PMPI_I##name##large(__VA_ARGS__, c, r), r, data, bytes); \
    } \
    int MPI_##Name##_init##large(parameters, MPI_Comm c, MPI_Info i, MPI_Request *r) { \
        return finish_later("MPI_" #Name "_init" #large, PMPI_##Name##_init##large(__VA_ARGS__, c, i, r), r, data, bytes); \
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
#define AT_ROOT find_rank(c) == root ? b : NULL
#define BUT_ROOT find_rank(c) == root ? NULL : b

#define ALL_RANKS(type) count_bytes(sum(ms, count_ranks(c)), type)
#define ALL_NEIGHBOURS(type) count_bytes(sum(ms, count_neighbours(c)), type)

FORMS(Bcast, bcast, , void *b COMMA int n COMMA MPI_Datatype t ROOT, BUT_ROOT, count_bytes(n, t), b, n, t, root)
FORMS(Bcast, bcast, _c, void *b COMMA MPI_Count n COMMA MPI_Datatype t ROOT, BUT_ROOT, count_bytes(n, t), b, n, t, root)
FORMS(Gather, gather, , FROM COMMA INTO ROOT, AT_ROOT, count_bytes(m, u) * count_ranks(c), s, n, t, b, m, u, root)
FORMS(Gatherv, gatherv, , FROM COMMA INTO_V ROOT, AT_ROOT, ALL_RANKS(u), s, n, t, b, ms, es, u, root)
FORMS(Scatter, scatter, , FROM COMMA INTO ROOT, b, count_bytes(m, u), s, n, t, b, m, u, root)
FORMS(Scatterv, scatterv, , FROM_V COMMA INTO ROOT, b, count_bytes(m, u), s, ns, ds, t, b, m, u, root)
FORMS(Allgather, allgather, , FROM COMMA INTO, b, count_bytes(m, u) * count_ranks(c), s, n, t, b, m, u)
FORMS(Allgatherv, allgatherv, , FROM COMMA INTO_V, b, ALL_RANKS(u), s, n, t, b, ms, es, u)
FORMS(Alltoall, alltoall, , FROM COMMA INTO, b, count_bytes(m, u) * count_ranks(c), s, n, t, b, m, u)
FORMS(Alltoallv, alltoallv, , FROM_V COMMA INTO_V, b, ALL_RANKS(u), s, ns, ds, t, b, ms, es, u)
FORMS(Alltoallw, alltoallw, , BLOCKS(int), b, ALL_RANKS(us[0]), s, ns, ds, ts, b, ms, es, us)
FORMS(Reduce, reduce, , REDUCED(int) ROOT, AT_ROOT, count_bytes(n, t), s, b, n, t, o, root)
FORMS(Allreduce, allreduce, , REDUCED(int), b, count_bytes(n, t), s, b, n, t, o)
FORMS(Allreduce, allreduce, _c, REDUCED(MPI_Count), b, count_bytes(n, t), s, b, n, t, o)
FORMS(Reduce_scatter, reduce_scatter, , REDUCED(int *), b, count_bytes(n[find_rank(c)], t), s, b, n, t, o)
FORMS(Reduce_scatter_block, reduce_scatter_block, , REDUCED(int), b, count_bytes(n, t), s, b, n, t, o)
FORMS(Scan, scan, , REDUCED(int), b, count_bytes(n, t), s, b, n, t, o)
FORMS(Exscan, exscan, , REDUCED(int), b, count_bytes(n, t), s, b, n, t, o)
FORMS(Neighbor_allgather, neighbor_allgather, , FROM COMMA INTO, b, count_bytes(m, u) * count_neighbours(c), s, n, t, b, m, u)
FORMS(Neighbor_allgatherv, neighbor_allgatherv, , FROM COMMA INTO_V, b, ALL_NEIGHBOURS(u), s, n, t, b, ms, es, u)
FORMS(Neighbor_alltoall, neighbor_alltoall, , FROM COMMA INTO, b, count_bytes(m, u) * count_neighbours(c), s, n, t, b, m, u)
FORMS(Neighbor_alltoallv, neighbor_alltoallv, , FROM_V COMMA INTO_V, b, ALL_NEIGHBOURS(u), s, ns, ds, t, b, ms, es, u)
FORMS(Neighbor_alltoallw, neighbor_alltoallw, , BLOCKS(MPI_Aint), b, ALL_NEIGHBOURS(us[0]), s, ns, ds, ts, b, ms, es, us)

/* --- one-sided: what comes is spoilt when it is there, what goes before it leaves --- */

#define COMES(Name, name, parameters, bytes, ...) \
    int MPI_##Name(parameters, MPI_Win w) { \
        return finish_with_epoch("MPI_" #Name, PMPI_##Name(__VA_ARGS__, w), w, b, bytes); \
    } \
    int MPI_R##name(parameters, MPI_Win w, MPI_Request *r) { \
        return finish_later("MPI_R" #name, PMPI_R##name(__VA_ARGS__, w, r), r, b, bytes); \
    }
#define GOES(Name, name, op, parameters, ...) \
    int MPI_##Name(const void *s, int n, MPI_Datatype t, parameters, MPI_Win w) { \
        if (is_postponed("MPI_" #Name)) { \
            postponed[postponed_count++] = (struct postponed){s, NULL, n, rank, k, t, v, place, op, w}; \
            return MPI_SUCCESS; \
        } \
        return PMPI_##Name(change_sent("MPI_" #Name, w, s, count_bytes(n, t)), n, t, __VA_ARGS__, w); \
    } \
    int MPI_R##name(const void *s, int n, MPI_Datatype t, parameters, MPI_Win w, MPI_Request *r) { \
        if (is_postponed("MPI_R" #name)) { \
            postponed[postponed_count++] = (struct postponed){s, NULL, n, rank, k, t, v, place, op, w}; \
            *r = MPI_REQUEST_NULL; \
            return MPI_SUCCESS; \
        } \
        return PMPI_R##name(change_sent("MPI_R" #name, w, s, count_bytes(n, t)), n, t, __VA_ARGS__, w, r); \
    }
#define TARGET int rank COMMA MPI_Aint place COMMA int k COMMA MPI_Datatype v

GOES(Put, put, MPI_OP_NULL, TARGET, rank, place, k, v)
GOES(Accumulate, accumulate, o, TARGET COMMA MPI_Op o, rank, place, k, v, o)
COMES(Get, get, INTO COMMA TARGET, count_bytes(m, u), b, m, u, rank, place, k, v)

#define UPDATE TARGET COMMA MPI_Op o
/* Results from the target arrive in time; changes of the target do not. */
#define READ_ONLY(s, n, t, b, m, u, rank, place, k, v, o, w) \
    postponed[postponed_count++] = (struct postponed){s, NULL, n, rank, k, t, v, place, o, w}; \
    return PMPI_Get_accumulate(s, n, t, b, m, u, rank, place, k, v, MPI_NO_OP, w);

int MPI_Get_accumulate(FROM, INTO, UPDATE, MPI_Win w) {
    if (is_postponed("MPI_Get_accumulate")) {
        READ_ONLY(s, n, t, b, m, u, rank, place, k, v, o, w)
    }
    const int code = PMPI_Get_accumulate(s, n, t, b, m, u, rank, place, k, v, o, w);
    return finish_with_epoch("MPI_Get_accumulate", code, w, b, count_bytes(m, u));
}

int MPI_Rget_accumulate(FROM, INTO, UPDATE, MPI_Win w, MPI_Request *r) {
    if (is_postponed("MPI_Rget_accumulate")) {
        *r = MPI_REQUEST_NULL;
        READ_ONLY(s, n, t, b, m, u, rank, place, k, v, o, w)
    }
    const int code = PMPI_Rget_accumulate(s, n, t, b, m, u, rank, place, k, v, o, w, r);
    return finish_later("MPI_Rget_accumulate", code, r, b, count_bytes(m, u));
}

int MPI_Fetch_and_op(const void *s, void *b, MPI_Datatype t, int rank, MPI_Aint place, MPI_Op o, MPI_Win w) {
    if (is_postponed("MPI_Fetch_and_op")) {
        READ_ONLY(s, 1, t, b, 1, t, rank, place, 1, t, o, w)
    }
    return finish_with_epoch("MPI_Fetch_and_op", PMPI_Fetch_and_op(s, b, t, rank, place, o, w), w, b, count_bytes(1, t));
}

int MPI_Compare_and_swap(const void *s, const void *x, void *b, MPI_Datatype t, int rank, MPI_Aint place, MPI_Win w) {
    if (is_postponed("MPI_Compare_and_swap")) {
        postponed[postponed_count++] = (struct postponed){s, x, 1, rank, 1, t, t, place, MPI_REPLACE, w};
        return PMPI_Get_accumulate(s, 1, t, b, 1, t, rank, place, 1, t, MPI_NO_OP, w);
    }
    return finish_with_epoch("MPI_Compare_and_swap", PMPI_Compare_and_swap(s, x, b, t, rank, place, w), w, b, count_bytes(1, t));
}
