/* Preloaded: MPI_Allreduce, MPI_Bcast and receives that are wrong in ways that are hard to detect. SUBTLE is the fault:
 *
 * every:N         one byte in the middle is wrong in every N-th call
 * last:N          the same for the last byte
 * spell:A:B       calls A to B do nothing
 * second          every second call does nothing
 * remembered      a call does nothing if the first and the last 64 sent bytes are those of the call before
 * narrow:BITS     sums are rounded to this number of mantissa bits
 * exchange:N      the first N elements of a result and the next N are exchanged
 * displaced:N     N elements are copied over the next N
 * beyond:N        a byte is written N bytes after the buffer
 * before:N        a byte is written N bytes before the buffer
 * gap             the first byte of a gap of `vector` is written to
 * root            a broadcast from a root other than 0 is wrong
 * status:WHAT     a receive reports a wrong source, tag or count
 *
 * SUBTLE_BYTES: only calls with this number of bytes. SUBTLE_FROM, SUBTLE_UNTIL: first and last wrong call. Collective calls
 * are counted per number of bytes, others per function. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages of the core itself have tags from here on. */
enum { LEAST_OF_TALK = 1000, END_BYTES = 64, MOST_SIZES = 64 };

static const char *find_fault(const char *name) {
    const char *subtle = getenv("SUBTLE");
    const size_t length = strlen(name);
    return subtle && strncmp(subtle, name, length) == 0 && (!subtle[length] || subtle[length] == ':') ? subtle + length : NULL;
}

static long read_number(const char *name) {
    const char *rest = find_fault(name);
    return rest && *rest ? atol(rest + 1) : 0;
}

static long count_bytes(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return (long)count * size;
}

static int applies(long bytes) {
    return bytes > 0 && (!getenv("SUBTLE_BYTES") || atol(getenv("SUBTLE_BYTES")) == bytes);
}

static int is_due(long calls) {
    const char *from = getenv("SUBTLE_FROM"), *until = getenv("SUBTLE_UNTIL");
    return (!from || calls >= atol(from)) && (!until || calls <= atol(until));
}

/* The number of a call among those with so many bytes. */
static long count_call(long bytes) {
    static struct {
        long bytes, calls;
    } sizes[MOST_SIZES];
    int i = 0;
    while (i < MOST_SIZES - 1 && sizes[i].calls && sizes[i].bytes != bytes)
        i++;
    sizes[i].bytes = bytes;
    return ++sizes[i].calls;
}

static uint64_t hash_data(const void *data, long bytes) {
    const unsigned char *byte = data;
    uint64_t sum = 1469598103934665603u;
    for (long i = 0; i < bytes; i++)
        sum = (sum ^ byte[i]) * 1099511628211u;
    return sum;
}

/* Whether call number `calls` does nothing. */
static int is_idle(const void *sent, long bytes, long calls) {
    static uint64_t before;
    if (find_fault("second"))
        return is_due(calls) && calls % 2 == 0;
    if (find_fault("spell")) {
        const char *until = strchr(find_fault("spell") + 1, ':');
        return calls >= read_number("spell") && calls <= atol(until + 1);
    }
    if (find_fault("remembered") && sent) {
        const long end = bytes < END_BYTES ? bytes : END_BYTES;
        const uint64_t now = hash_data(sent, end) ^ hash_data((const unsigned char *)sent + bytes - end, end), old = before;
        before = now;
        return is_due(calls) && now == old;
    }
    return 0;
}

static void round_off(float *value) {
    int exponent;
    const double fraction = frexp(*value, &exponent), scale = ldexp(1, (int)read_number("narrow"));
    *value = (float)ldexp(nearbyint(fraction * scale) / scale, exponent);
}

static void swap(unsigned char *data, long bytes, long part) {
    for (long i = 0; i < part && part + i < bytes; i++) {
        const unsigned char byte = data[i];
        data[i] = data[part + i];
        data[part + i] = byte;
    }
}

/* Changes the result of call number `calls`. */
static void change_data(unsigned char *data, long bytes, long calls) {
    const long elements = bytes / (long)sizeof(float);
    if (!is_due(calls))
        return;
    if (read_number("every") && calls % read_number("every") == 0)
        data[bytes / 2] ^= 1;
    if (read_number("last") && calls % read_number("last") == 0)
        data[bytes - 1] ^= 1;
    if (find_fault("narrow"))
        for (long i = 0; i < elements; i++)
            round_off((float *)data + i);
    if (find_fault("exchange"))
        swap(data, bytes, read_number("exchange") * (long)sizeof(float));
    if (find_fault("displaced") && 2 * read_number("displaced") <= elements)
        memcpy(data + read_number("displaced") * (long)sizeof(float), data, (size_t)read_number("displaced") * sizeof(float));
    if (find_fault("beyond"))
        data[bytes - 1 + read_number("beyond")] ^= 1;
    if (find_fault("before"))
        data[-read_number("before")] ^= 1;
    if (find_fault("gap"))
        data[sizeof(double)] ^= 1;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    const long bytes = count_bytes(count, type), calls = count_call(bytes);
    if (!applies(bytes))
        return PMPI_Allreduce(from, into, count, type, operation, comm);
    if (is_idle(from == MPI_IN_PLACE ? into : from, bytes, calls))
        return MPI_SUCCESS;
    const int code = PMPI_Allreduce(from, into, count, type, operation, comm);
    change_data(into, bytes, calls);
    return code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    const long bytes = count_bytes(count, type), calls = count_call(bytes);
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (!applies(bytes))
        return PMPI_Bcast(data, count, type, root, comm);
    if (is_idle(NULL, bytes, calls))
        return MPI_SUCCESS;
    const int code = PMPI_Bcast(data, count, type, root, comm);
    if (rank != root)
        change_data(data, bytes, calls);
    if (rank != root && find_fault("root") && root != 0)
        ((unsigned char *)data)[bytes - 1] ^= 1;
    return code;
}

/* Changes the status of receive number `calls`. */
static void change_status(MPI_Status *status, long calls) {
    if (!is_due(calls))
        return;
    if (find_fault("status:source"))
        status->MPI_SOURCE ^= 1;
    if (find_fault("status:tag"))
        status->MPI_TAG ^= 1;
    if (find_fault("status:count"))
        PMPI_Status_set_elements(status, MPI_BYTE, 1);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    static long calls;
    MPI_Status result;
    const long bytes = count_bytes(count, type);
    const int code = PMPI_Recv(data, count, type, source, tag, comm, &result);
    if (applies(bytes) && tag < LEAST_OF_TALK) {
        change_data(data, bytes, ++calls);
        change_status(&result, calls);
    }
    if (status != MPI_STATUS_IGNORE)
        *status = result;
    return code;
}

/* Statuses of sends are not used. */
int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    static long calls;
    const int code = PMPI_Wait(request, status);
    if (status != MPI_STATUS_IGNORE && status->MPI_TAG < LEAST_OF_TALK)
        change_status(status, ++calls);
    return code;
}

/* Statuses of sends are not read. */
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    static long calls;
    const int code = PMPI_Waitall(count, requests, statuses);
    calls++;
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        change_status(&statuses[i], calls);
    return code;
}

int MPI_Sendrecv_replace(void *data, int n, MPI_Datatype t, int to, int out, int from, int tag, MPI_Comm comm,
                         MPI_Status *status) {
    static long calls;
    const int code = PMPI_Sendrecv_replace(data, n, t, to, out, from, tag, comm, status);
    if (status != MPI_STATUS_IGNORE)
        change_status(status, ++calls);
    return code;
}

int MPI_Sendrecv(const void *sent, int m, MPI_Datatype u, int to, int out, void *data, int n, MPI_Datatype t, int from, int tag,
                 MPI_Comm comm, MPI_Status *status) {
    static long calls;
    const int code = PMPI_Sendrecv(sent, m, u, to, out, data, n, t, from, tag, comm, status);
    if (status != MPI_STATUS_IGNORE && tag < LEAST_OF_TALK)
        change_status(status, ++calls);
    return code;
}
