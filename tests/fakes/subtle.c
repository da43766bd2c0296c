/* Preloaded: MPI_Allreduce, MPI_Bcast and receives that are wrong in ways that are hard to see. SUBTLE says how:
 *
 * every:N         one byte is wrong in every N-th call, in the middle
 * last:N          the same, the last byte
 * spell:A:B       calls A to B do nothing; they are counted from the first with so many bytes as the last one
 * second          every second call does nothing
 * remembered      a call does nothing while what it sends is what was sent before
 * narrow:BITS     sums are rounded to so many bits of mantissa
 * exchange:N      the first N elements of a result and the N behind them are exchanged
 * displaced:N     N elements are copied over those N behind them
 * beyond:N        a byte is written N bytes behind the buffer
 * before:N        and N bytes in front of it
 * gap             the first byte of a gap of `vector` is written to
 * root            a broadcast from another root than 0 is wrong
 * status:WHAT     a receive says a wrong source, tag or count
 *
 * SUBTLE_BYTES: only in calls with so many bytes. SUBTLE_FROM, SUBTLE_UNTIL: statuses are wrong from so many calls of one
 * name on, not before, and right again after so many. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The core's own messages have tags from here on. */
enum { LEAST_OF_TALK = 1000 };

static const char *how(const char *name) {
    const char *subtle = getenv("SUBTLE");
    const size_t length = strlen(name);
    return subtle && strncmp(subtle, name, length) == 0 && (!subtle[length] || subtle[length] == ':') ? subtle + length : NULL;
}

static long number(const char *name) {
    const char *rest = how(name);
    return rest && *rest ? atol(rest + 1) : 0;
}

static long size_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return (long)count * size;
}

static int is_meant(long bytes) {
    return bytes > 0 && (!getenv("SUBTLE_BYTES") || atol(getenv("SUBTLE_BYTES")) == bytes);
}

static uint64_t sum_of(const void *data, long bytes) {
    const unsigned char *byte = data;
    uint64_t sum = 1469598103934665603u;
    for (long i = 0; i < bytes; i++)
        sum = (sum ^ byte[i]) * 1099511628211u;
    return sum;
}

/* Whether call number `calls` does nothing. */
static int is_idle(const void *sent, long bytes, long calls) {
    static uint64_t before;
    if (how("second"))
        return calls % 2 == 0;
    if (how("spell")) {
        const char *until = strchr(how("spell") + 1, ':');
        return calls >= number("spell") && calls <= atol(until + 1);
    }
    if (how("remembered") && sent) {
        const uint64_t now = sum_of(sent, bytes), old = before;
        before = now;
        return now == old;
    }
    return 0;
}

static void round_off(float *value) {
    int exponent;
    const double fraction = frexp(*value, &exponent), scale = ldexp(1, (int)number("narrow"));
    *value = (float)ldexp(nearbyint(fraction * scale) / scale, exponent);
}

static void swap(unsigned char *data, long bytes, long part) {
    for (long i = 0; i < part && part + i < bytes; i++) {
        const unsigned char byte = data[i];
        data[i] = data[part + i];
        data[part + i] = byte;
    }
}

/* Of single calls, `calls` of which there were. */
static void spoil(unsigned char *data, long bytes, long calls) {
    const long elements = bytes / (long)sizeof(float);
    if (number("every") && calls % number("every") == 0)
        data[bytes / 2] ^= 1;
    if (number("last") && calls % number("last") == 0)
        data[bytes - 1] ^= 1;
    if (how("narrow"))
        for (long i = 0; i < elements; i++)
            round_off((float *)data + i);
    if (how("exchange"))
        swap(data, bytes, number("exchange") * (long)sizeof(float));
    if (how("displaced") && 2 * number("displaced") <= elements)
        memcpy(data + number("displaced") * (long)sizeof(float), data, (size_t)number("displaced") * sizeof(float));
    if (how("beyond"))
        data[bytes - 1 + number("beyond")] ^= 1;
    if (how("before"))
        data[-number("before")] ^= 1;
    if (how("gap"))
        data[sizeof(double)] ^= 1;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    static long calls;
    const long bytes = size_of(count, type);
    if (!is_meant(bytes))
        return PMPI_Allreduce(from, into, count, type, operation, comm);
    if (is_idle(from, bytes, ++calls))
        return MPI_SUCCESS;
    const int code = PMPI_Allreduce(from, into, count, type, operation, comm);
    spoil(into, bytes, calls);
    return code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    static long calls;
    const long bytes = size_of(count, type);
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (!is_meant(bytes))
        return PMPI_Bcast(data, count, type, root, comm);
    if (is_idle(NULL, bytes, ++calls))
        return MPI_SUCCESS;
    const int code = PMPI_Bcast(data, count, type, root, comm);
    if (rank != root)
        spoil(data, bytes, calls);
    if (rank != root && how("root") && root != 0)
        ((unsigned char *)data)[bytes - 1] ^= 1;
    return code;
}

/* Of receives that report a status, `calls` of which there were. */
static void spoil_status(MPI_Status *status, long calls) {
    if (getenv("SUBTLE_FROM") && calls < atol(getenv("SUBTLE_FROM")))
        return;
    if (getenv("SUBTLE_UNTIL") && calls > atol(getenv("SUBTLE_UNTIL")))
        return;
    if (how("status:source"))
        status->MPI_SOURCE ^= 1;
    if (how("status:tag"))
        status->MPI_TAG ^= 1;
    if (how("status:count"))
        PMPI_Status_set_elements(status, MPI_BYTE, 1);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    static long calls;
    MPI_Status result;
    const long bytes = size_of(count, type);
    const int code = PMPI_Recv(data, count, type, source, tag, comm, &result);
    if (is_meant(bytes) && tag < LEAST_OF_TALK) {
        spoil(data, bytes, ++calls);
        spoil_status(&result, calls);
    }
    if (status != MPI_STATUS_IGNORE)
        *status = result;
    return code;
}

/* Who waits for a send has no use for a status. */
int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    static long calls;
    const int code = PMPI_Wait(request, status);
    if (status != MPI_STATUS_IGNORE && status->MPI_TAG < LEAST_OF_TALK)
        spoil_status(status, ++calls);
    return code;
}

/* What is said of sends is read by nobody. */
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    static long calls;
    const int code = PMPI_Waitall(count, requests, statuses);
    calls++;
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        spoil_status(&statuses[i], calls);
    return code;
}

int MPI_Sendrecv_replace(void *data, int n, MPI_Datatype t, int to, int out, int from, int tag, MPI_Comm comm,
                         MPI_Status *status) {
    static long calls;
    const int code = PMPI_Sendrecv_replace(data, n, t, to, out, from, tag, comm, status);
    if (status != MPI_STATUS_IGNORE)
        spoil_status(status, ++calls);
    return code;
}

int MPI_Sendrecv(const void *sent, int m, MPI_Datatype u, int to, int out, void *data, int n, MPI_Datatype t, int from, int tag,
                 MPI_Comm comm, MPI_Status *status) {
    static long calls;
    const int code = PMPI_Sendrecv(sent, m, u, to, out, data, n, t, from, tag, comm, status);
    if (status != MPI_STATUS_IGNORE && tag < LEAST_OF_TALK)
        spoil_status(status, ++calls);
    return code;
}
