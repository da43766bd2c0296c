/* Preloaded: calls that save the transport of data that they have seen. REPEATS is the way:
 *
 * put         MPI_Put leaves out data whose first and last 64 bytes are those of the last MPI_Put from there
 * window      a message of a window that equals the one before is not sent: the receiver copies the one before
 * ends        MPI_Allreduce returns the result before if the first and the last 64 bytes are those of the call before
 * all         the same for all bytes
 * zeros       ranks agree that all data are zero, which take no reduction
 *
 * REPEATS_BYTES: only calls with this number of bytes. REPEATS_FILE: each rank writes the number of calls that it saved. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Messages of the core itself have tags from here on. */
enum { LEAST_OF_TALK = 1000, END_BYTES = 64, MOST_KEPT = 1 << 20, MOST_MESSAGES = 256 };

static long saved;

int MPI_Finalize(void) {
    FILE *file = getenv("REPEATS_FILE") ? fopen(getenv("REPEATS_FILE"), "a") : NULL;
    if (file) {
        fprintf(file, "%ld\n", saved);
        fclose(file);
    }
    return PMPI_Finalize();
}

static int is_fault(const char *name) {
    return getenv("REPEATS") && strcmp(getenv("REPEATS"), name) == 0;
}

static long count_bytes(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return (long)count * size;
}

static int applies(long bytes) {
    return bytes > 0 && bytes <= MOST_KEPT && getenv("REPEATS_BYTES") && atol(getenv("REPEATS_BYTES")) == bytes;
}

static uint64_t hash_data(uint64_t sum, const unsigned char *data, long bytes) {
    for (long i = 0; i < bytes; i++)
        sum = (sum ^ data[i]) * 1099511628211u;
    return sum;
}

static uint64_t hash_ends(const unsigned char *data, long bytes) {
    const long end = bytes < END_BYTES ? bytes : END_BYTES;
    return hash_data(hash_data(1469598103934665603u, data, end), data + bytes - end, end);
}

/* --- collective calls --- */

static int is_zero(const unsigned char *data, long bytes) {
    return data[0] == 0 && memcmp(data, data + 1, (size_t)(bytes - 1)) == 0;
}

static int are_all_zero(const unsigned char *data, long bytes, MPI_Comm comm) {
    const int zero = is_zero(data, bytes);
    int all = 0;
    PMPI_Allreduce(&zero, &all, 1, MPI_INT, MPI_LAND, comm);
    return all;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    static unsigned char result[MOST_KEPT];
    static uint64_t before;
    const long bytes = count_bytes(count, type);
    const unsigned char *const data = from == MPI_IN_PLACE ? into : from;
    if (!applies(bytes))
        return PMPI_Allreduce(from, into, count, type, operation, comm);
    if (is_fault("zeros")) {
        if (!are_all_zero(data, bytes, comm))
            return PMPI_Allreduce(from, into, count, type, operation, comm);
        saved++;
        memset(into, 0, (size_t)bytes);
        return MPI_SUCCESS;
    }
    const uint64_t now = is_fault("ends") ? hash_ends(data, bytes) : hash_data(1469598103934665603u, data, bytes), old = before;
    before = now;
    if (now == old && (is_fault("ends") || is_fault("all"))) {
        saved++;
        memcpy(into, result, (size_t)bytes);
        return MPI_SUCCESS;
    }
    const int code = PMPI_Allreduce(from, into, count, type, operation, comm);
    memcpy(result, into, (size_t)bytes);
    return code;
}

/* --- one-sided calls --- */

int MPI_Put(const void *data, int count, MPI_Datatype type, int to, MPI_Aint place, int there, MPI_Datatype its_type,
            MPI_Win window) {
    static struct {
        const void *data;
        uint64_t hash;
    } known[MOST_MESSAGES];
    const long bytes = count_bytes(count, type);
    if (is_fault("put") && applies(bytes))
        for (int i = 0; i < MOST_MESSAGES; i++) {
            const uint64_t hash = hash_ends(data, bytes);
            if (known[i].data && known[i].data != data)
                continue;
            if (known[i].data == data && known[i].hash == hash) {
                saved++;
                return MPI_SUCCESS;
            }
            known[i].data = data;
            known[i].hash = hash;
            break;
        }
    return PMPI_Put(data, count, type, to, place, there, its_type, window);
}

/* --- windows of messages --- */

/* What a request of a receive is for. */
static struct posted {
    MPI_Request request;
    unsigned char *data;
    long bytes;
} posted[MOST_MESSAGES];
static int posted_count;
static unsigned char last_sent[MOST_KEPT], last_received[MOST_KEPT];
static long sent_bytes;

/* A message equal to the one before is an empty message. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) {
    const long bytes = count_bytes(count, type);
    if (!is_fault("window") || !applies(bytes) || tag >= LEAST_OF_TALK)
        return PMPI_Isend(data, count, type, to, tag, comm, request);
    if (sent_bytes == bytes && memcmp(data, last_sent, (size_t)bytes) == 0) {
        saved++;
        return PMPI_Isend(data, 0, type, to, tag, comm, request);
    }
    memcpy(last_sent, data, (size_t)bytes);
    sent_bytes = bytes;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

/* Other calls complete receives, too, whose requests are used again. */
static void forget(MPI_Request request) {
    int others = 0;
    for (int i = 0; i < posted_count; i++)
        if (posted[i].request != request)
            posted[others++] = posted[i];
    posted_count = others;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request) {
    const long bytes = count_bytes(count, type);
    const int code = PMPI_Irecv(data, count, type, from, tag, comm, request);
    forget(*request);
    if (is_fault("window") && applies(bytes) && tag < LEAST_OF_TALK && posted_count < MOST_MESSAGES)
        posted[posted_count++] = (struct posted){*request, data, bytes};
    return code;
}

/* Receives complete in the order of their posts. */
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    MPI_Status results[2 * MOST_MESSAGES];
    if (!is_fault("window") || posted_count == 0 || count > 2 * MOST_MESSAGES)
        return PMPI_Waitall(count, requests, statuses);
    int places[MOST_MESSAGES], known = 0;
    for (int i = 0; i < posted_count; i++) {
        places[i] = -1;
        for (int k = 0; k < count && places[i] < 0; k++)
            if (requests[k] == posted[i].request)
                places[i] = k, known++;
    }
    const int code = PMPI_Waitall(count, requests, results);
    for (int i = 0; i < posted_count && known; i++) {
        int bytes = 0;
        if (places[i] < 0)
            continue;
        PMPI_Get_count(&results[places[i]], MPI_BYTE, &bytes);
        if (bytes == 0) {
            memcpy(posted[i].data, last_received, (size_t)posted[i].bytes);
            PMPI_Status_set_elements(&results[places[i]], MPI_BYTE, (int)posted[i].bytes);
        } else {
            memcpy(last_received, posted[i].data, (size_t)posted[i].bytes);
        }
    }
    posted_count = 0;
    if (statuses != MPI_STATUSES_IGNORE)
        memcpy(statuses, results, sizeof *results * (size_t)count);
    return code;
}
