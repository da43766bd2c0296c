/* Preloaded: calls with mistakes that a library's algorithms could have. MISTAKE names one:
 *
 * blocks         alltoall: the blocks of the first two ranks are exchanged
 * last-rank      allgather: the last rank's block is missing if blocks have more than 8 KiB
 * wrong-root     reduce: another rank than the root gets the result
 * scan           scan: the own numbers are missing, except on rank 0
 * early          allreduce, nonblocking: completes before the data arrive, which happens at the rank's next call
 * late-test      the same, but the first MPI_Test or MPI_Wait lets the data arrive before it returns; conforming
 * first-data     allreduce, persistent: each start sends the data of the first one
 * last-element   receive, bcast: the last 8 bytes of a derived type do not arrive
 * eager          bcast: data beyond 8 KiB do not arrive
 * displacement   gatherv: blocks are one element too far
 * reorder        receives of a window: every two messages are exchanged
 * put            accumulate: data are put, not added
 * not-atomic     accumulate and fetch_and_op: get, add and put, between which others may come */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Messages of the core itself have tags from here on. */
enum { LEAST_OF_TALK = 1000, EAGER = 8192, END = 8, MOST = 8192 };

static bool is(const char *name) {
    const char *mistake = getenv("MISTAKE");
    return mistake && strcmp(mistake, name) == 0;
}

static long find_size(MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return size;
}

static int find_rank(MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int count_ranks(MPI_Comm comm) {
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

/* --- what happens to data when a call has ended --- */

/* Bytes that are restored (`kept`), or exchanged with another place (`other`). */
struct mistake {
    unsigned char *place, *other, *kept;
    long bytes;
};

static void swap(unsigned char *first, unsigned char *second, long bytes) {
    for (long i = 0; i < bytes; i++) {
        const unsigned char byte = first[i];
        first[i] = second[i];
        second[i] = byte;
    }
}

static void apply_mistake(const struct mistake *mistake) {
    if (mistake->other)
        swap(mistake->place, mistake->other, mistake->bytes);
    else if (mistake->kept)
        memcpy(mistake->place, mistake->kept, (size_t)mistake->bytes);
}

static void save_bytes(struct mistake *mistake) {
    if (!mistake->place || mistake->other)
        return;
    if (!mistake->kept)
        mistake->kept = malloc((size_t)mistake->bytes + 1);
    memcpy(mistake->kept, mistake->place, (size_t)mistake->bytes);
}

static int apply_at_once(int code, struct mistake mistake) {
    apply_mistake(&mistake);
    free(mistake.kept);
    return code;
}

static struct {
    MPI_Request request;
    bool persistent;
    struct mistake mistake;
} pending[MOST];
static int pending_count;

static int expect(int code, MPI_Request request, bool persistent, struct mistake mistake) {
    if (mistake.place && pending_count < MOST) {
        pending[pending_count].request = request;
        pending[pending_count].persistent = persistent;
        pending[pending_count++].mistake = mistake;
    }
    return code;
}

static void drop_expected(int which) {
    free(pending[which].mistake.kept);
    pending[which] = pending[--pending_count];
}

static void end_request(MPI_Request request) {
    for (int i = pending_count - 1; i >= 0; i--)
        if (pending[i].request == request) {
            apply_mistake(&pending[i].mistake);
            if (!pending[i].persistent)
                drop_expected(i);
        }
}

/* --- requests --- */

/* A request that was reported complete and is not. */
static MPI_Request owed = MPI_REQUEST_NULL, meant = MPI_REQUEST_NULL;
static bool looked_once;

static void settle(void) {
    if (owed != MPI_REQUEST_NULL)
        PMPI_Wait(&owed, MPI_STATUS_IGNORE);
}

static bool is_incomplete(MPI_Request *request) {
    if (!is("early") || *request == MPI_REQUEST_NULL || *request != meant)
        return false;
    owed = *request;
    meant = *request = MPI_REQUEST_NULL;
    return true;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    const MPI_Request before = *request;
    settle();
    if (is_incomplete(request))
        return *flag = 1, MPI_SUCCESS;
    if (is("late-test") && before == meant && before != MPI_REQUEST_NULL && !looked_once)
        return *flag = 0, looked_once = true, MPI_SUCCESS;
    const int code = PMPI_Test(request, flag, status);
    if (*flag)
        end_request(before);
    return code;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    int flag = 0, code = MPI_SUCCESS;
    if (is("late-test"))
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Test(request, &flag, status);
    if (flag || code != MPI_SUCCESS)
        return code;
    const MPI_Request before = *request;
    settle();
    if (is_incomplete(request))
        return MPI_SUCCESS;
    code = PMPI_Wait(request, status);
    end_request(before);
    return code;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses) {
    MPI_Request *before = malloc(((size_t)count + 1) * sizeof *before);
    memcpy(before, requests, (size_t)count * sizeof *before);
    settle();
    const int code = PMPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++)
        end_request(before[i]);
    free(before);
    return code;
}

/* Data that `first-data` sends in place of the caller's. */
static struct {
    MPI_Request request;
    const void *from;
    void *copy;
    long bytes;
    bool filled;
} first;

static void start_request(MPI_Request request) {
    for (int i = 0; i < pending_count; i++)
        if (pending[i].request == request)
            save_bytes(&pending[i].mistake);
    if (first.copy && request == first.request && !first.filled) {
        memcpy(first.copy, first.from, (size_t)first.bytes);
        first.filled = true;
    }
}

int MPI_Start(MPI_Request *request) {
    settle();
    start_request(*request);
    return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request *requests) {
    settle();
    for (int i = 0; i < count; i++)
        start_request(requests[i]);
    return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request *request) {
    for (int i = pending_count - 1; i >= 0; i--)
        if (pending[i].request == *request)
            drop_expected(i);
    return PMPI_Request_free(request);
}

int MPI_Sendrecv(const void *s, int m, MPI_Datatype u, int to, int out, void *b, int n, MPI_Datatype t, int from, int in,
                 MPI_Comm c, MPI_Status *status) {
    settle();
    return PMPI_Sendrecv(s, m, u, to, out, b, n, t, from, in, c, status);
}

/* --- collectives: blocking, nonblocking and persistent ones from one rule --- */

#define FORMS(Name, name, parameters, arguments, what) \
    int MPI_##Name(parameters, MPI_Comm c) { \
        struct mistake mistake = what; \
        save_bytes(&mistake); \
        return apply_at_once(PMPI_##Name(arguments, c), mistake); \
    } \
    int MPI_I##name(parameters, MPI_Comm c, MPI_Request *r) { \
        struct mistake mistake = what; \
        save_bytes(&mistake); \
        const int code = PMPI_I##name(arguments, c, r); \
        return expect(code, *r, false, mistake); \
    } \
    int MPI_##Name##_init(parameters, MPI_Comm c, MPI_Info i, MPI_Request *r) { \
        struct mistake mistake = what; \
        const int code = PMPI_##Name##_init(arguments, c, i, r); \
        return expect(code, *r, true, mistake); \
    }
static struct mistake blocks(void *into, int count, MPI_Datatype type, MPI_Comm comm) {
    const long bytes = count * find_size(type);
    unsigned char *const data = into;
    if (!is("blocks") || count_ranks(comm) < 2)
        return (struct mistake){0};
    return (struct mistake){.place = data, .other = data + bytes, .bytes = bytes};
}

static struct mistake last_rank(void *into, int count, MPI_Datatype type, MPI_Comm comm) {
    const long bytes = count * find_size(type);
    if (!is("last-rank") || bytes <= EAGER)
        return (struct mistake){0};
    return (struct mistake){.place = (unsigned char *)into + (count_ranks(comm) - 1) * bytes, .bytes = bytes};
}

/* The last bytes of a derived type in memory. */
static struct mistake find_end(void *data, int count, MPI_Datatype type) {
    int integers, addresses, types, combiner;
    MPI_Aint low, extent, true_low, true_extent;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (!is("last-element") || combiner == MPI_COMBINER_NAMED || count == 0 || find_size(type) < END)
        return (struct mistake){0};
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_true_extent(type, &true_low, &true_extent);
    return (struct mistake){.place = (unsigned char *)data + (count - 1) * extent + true_low + true_extent - END, .bytes = END};
}

static struct mistake beyond_eager(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    const long bytes = count * find_size(type);
    if (find_rank(comm) == root)
        return (struct mistake){0};
    if (!is("eager") || bytes <= EAGER)
        return find_end(data, count, type);
    return (struct mistake){.place = (unsigned char *)data + EAGER, .bytes = bytes - EAGER};
}

#define EXCHANGES const void *s, int m, MPI_Datatype u, void *b, int n, MPI_Datatype t
#define EXCHANGE s, m, u, b, n, t
#define BCASTS void *b, int n, MPI_Datatype t, int root
#define BCAST b, n, t, root
FORMS(Alltoall, alltoall, EXCHANGES, EXCHANGE, blocks(b, n, t, c))
FORMS(Allgather, allgather, EXCHANGES, EXCHANGE, last_rank(b, n, t, c))
FORMS(Bcast, bcast, BCASTS, BCAST, beyond_eager(b, n, t, root, c))

static int other(int root, MPI_Comm comm) {
    return is("wrong-root") ? (root + 1) % count_ranks(comm) : root;
}

/* Buffer for the result on the wrong root, which has none in its caller's memory. */
static void *find_buffer(void *into, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    static void *room;
    if (!is("wrong-root") || find_rank(comm) != other(root, comm))
        return into;
    room = realloc(room, (size_t)(count * find_size(type)) + 1);
    return room;
}

#define REDUCES const void *s, void *b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c
#define REDUCE s, find_buffer(b, n, t, root, c), n, t, o, other(root, c), c
int MPI_Reduce(REDUCES) {
    return PMPI_Reduce(REDUCE);
}
int MPI_Ireduce(REDUCES, MPI_Request *r) {
    return PMPI_Ireduce(REDUCE, r);
}
int MPI_Reduce_init(REDUCES, MPI_Info i, MPI_Request *r) {
    return PMPI_Reduce_init(REDUCE, i, r);
}

#define SCANS const void *s, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c
#define SCAN s, b, n, t, o, c
int MPI_Scan(SCANS) {
    if (!is("scan"))
        return PMPI_Scan(SCAN);
    const int code = PMPI_Exscan(SCAN);
    if (find_rank(c) == 0 && s != MPI_IN_PLACE)
        memcpy(b, s, (size_t)(n * find_size(t)));
    return code;
}
int MPI_Iscan(SCANS, MPI_Request *r) {
    if (is("scan") && find_rank(c) == 0 && s != MPI_IN_PLACE)
        memcpy(b, s, (size_t)(n * find_size(t)));
    return is("scan") ? PMPI_Iexscan(SCAN, r) : PMPI_Iscan(SCAN, r);
}
int MPI_Scan_init(SCANS, MPI_Info i, MPI_Request *r) {
    return is("scan") ? PMPI_Exscan_init(SCAN, i, r) : PMPI_Scan_init(SCAN, i, r);
}

int MPI_Iallreduce(SCANS, MPI_Request *r) {
    settle();
    const int code = PMPI_Iallreduce(SCAN, r);
    meant = *r;
    looked_once = false;
    return code;
}
int MPI_Allreduce_init(SCANS, MPI_Info i, MPI_Request *r) {
    if (!is("first-data") || s == MPI_IN_PLACE)
        return PMPI_Allreduce_init(SCAN, i, r);
    free(first.copy);
    first.from = s;
    first.bytes = n * find_size(t);
    first.copy = malloc((size_t)first.bytes + 1);
    first.filled = false;
    const int code = PMPI_Allreduce_init(first.copy, b, n, t, o, c, i, r);
    first.request = *r;
    return code;
}

/* --- gatherv --- */

static const int *displace(const int *places, MPI_Comm comm) {
    static int shifted[1024];
    const int ranks = count_ranks(comm);
    if (!is("displacement") || !places || ranks > 1024)
        return places;
    for (int i = 0; i < ranks; i++)
        shifted[i] = places[i] + 1;
    return shifted;
}

#define GATHERS const void *s, int m, MPI_Datatype u, void *b, const int *n, const int *p, MPI_Datatype t, int root, MPI_Comm c
#define GATHER s, m, u, b, n, find_rank(c) == root ? displace(p, c) : p, t, root, c
int MPI_Gatherv(GATHERS) {
    return PMPI_Gatherv(GATHER);
}
int MPI_Igatherv(GATHERS, MPI_Request *r) {
    return PMPI_Igatherv(GATHER, r);
}
int MPI_Gatherv_init(GATHERS, MPI_Info i, MPI_Request *r) {
    return PMPI_Gatherv_init(GATHER, i, r);
}

/* --- receives --- */

static unsigned char *unpaired;

/* Every second receive of a window is exchanged with the one before it, which ends where it begins. */
static struct mistake exchange_received(void *data, int count, MPI_Datatype type, int tag) {
    const long bytes = count * find_size(type);
    if (tag >= LEAST_OF_TALK || !is("reorder") || bytes == 0)
        return tag < LEAST_OF_TALK ? find_end(data, count, type) : (struct mistake){0};
    unsigned char *const before = unpaired && unpaired + bytes == data ? unpaired : NULL;
    unpaired = before ? NULL : data;
    return before ? (struct mistake){.place = data, .other = before, .bytes = bytes} : (struct mistake){0};
}

#define RECEIVES void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c
#define RECEIVE b, n, t, from, tag, c
int MPI_Recv(RECEIVES, MPI_Status *status) {
    struct mistake mistake = is("reorder") ? (struct mistake){0} : exchange_received(b, n, t, tag);
    settle();
    save_bytes(&mistake);
    return apply_at_once(PMPI_Recv(RECEIVE, status), mistake);
}
int MPI_Irecv(RECEIVES, MPI_Request *r) {
    struct mistake mistake = exchange_received(b, n, t, tag);
    settle();
    save_bytes(&mistake);
    const int code = PMPI_Irecv(RECEIVE, r);
    return expect(code, *r, false, mistake);
}
int MPI_Recv_init(RECEIVES, MPI_Request *r) {
    const struct mistake mistake = exchange_received(b, n, t, tag);
    const int code = PMPI_Recv_init(RECEIVE, r);
    return expect(code, *r, true, mistake);
}

/* --- one-sided --- */

/* For floats and ints, as in the cases. */
static void add(void *sum, const void *more, int count, MPI_Datatype type) {
    for (int i = 0; i < count; i++)
        if (type == MPI_FLOAT)
            ((float *)sum)[i] += ((const float *)more)[i];
        else
            ((int *)sum)[i] += ((const int *)more)[i];
}

/* Within a lock_all, the default epoch of the cases. */
static int add_in_steps(const void *data, void *result, int count, MPI_Datatype type, int rank, MPI_Aint place, MPI_Win window) {
    const size_t bytes = (size_t)(count * find_size(type));
    void *sum = malloc(bytes + 1);
    int code = PMPI_Get(sum, count, type, rank, place, count, type, window);
    code = code ? code : PMPI_Win_flush(rank, window);
    if (result)
        memcpy(result, sum, bytes);
    add(sum, data, count, type);
    code = code ? code : PMPI_Put(sum, count, type, rank, place, count, type, window);
    code = code ? code : PMPI_Win_flush(rank, window);
    free(sum);
    return code;
}

#define ADDS const void *s, int m, MPI_Datatype u, int rank, MPI_Aint place, int n, MPI_Datatype t, MPI_Op o, MPI_Win w
int MPI_Accumulate(ADDS) {
    if (is("put"))
        return PMPI_Put(s, m, u, rank, place, n, t, w);
    return is("not-atomic") ? add_in_steps(s, NULL, n, t, rank, place, w) : PMPI_Accumulate(s, m, u, rank, place, n, t, o, w);
}
int MPI_Raccumulate(ADDS, MPI_Request *r) {
    return is("put") ? PMPI_Rput(s, m, u, rank, place, n, t, w, r) : PMPI_Raccumulate(s, m, u, rank, place, n, t, o, w, r);
}
int MPI_Fetch_and_op(const void *s, void *b, MPI_Datatype t, int rank, MPI_Aint place, MPI_Op o, MPI_Win w) {
    return is("not-atomic") ? add_in_steps(s, b, 1, t, rank, place, w) : PMPI_Fetch_and_op(s, b, t, rank, place, o, w);
}
