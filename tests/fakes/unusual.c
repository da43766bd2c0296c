/* Preloaded: a library that is wrong only with unusual numbers, or in unusual calls. UNUSUAL is the fault:
 *
 * of MPI_Allreduce
 * abs          results lose their sign
 * cut          results lose their fraction
 * finite       infinite results and NaN become 0
 * flush        denormal results become 0
 * unsigned     the least and the largest whole numbers are found as if all were unsigned
 * truth        only the lowest bit of a truth value counts
 * order        the operands of an operation that is not commutative are exchanged
 * place        the last byte is wrong in place
 * odd          the last byte is wrong if the count is no power of two
 * comm         the last byte is wrong on any communicator but the first one
 * burst        the last byte is wrong if the call before ended less than a microsecond ago
 * apart        the last byte is wrong if ranks enter more than 20 us apart
 * round        rounds upward from the third call on
 * reorder      every hundredth call sums up from the last rank to the first
 * bit          one rank gets another last bit
 * of others
 * root         MPI_Bcast: the last byte is wrong for a root that is neither the first nor the last rank
 * test         MPI_Test and its like report receives as complete at once
 * any          MPI_Waitany and its like name the other request
 * probe        probed and matched messages lose their last byte
 * shared       exclusive locks exclude nobody
 * atomic       MPI_Fetch_and_op and its like read first and write then
 * spell        MPI_Barrier: calls 20 to 3000 do nothing
 * ssend        MPI_Ssend: calls 20 to 3000 are those of MPI_Send
 * store        MPI_Comm_free takes 20 ms, the work of the next MPI_Comm_dup
 * early        receives: the last byte is wrong if the message arrives before its receive
 * upward       MPI_Init leaves the processor rounding upward
 * zeroes       MPI_Init leaves it with denormal numbers becoming 0 */
#include <fenv.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xmmintrin.h>

/* Messages of the core itself have tags from here on. */
enum { LEAST_OF_TALK = 1000, MOST_EARLY = 256, NEAR_NS = 1000, APART_NS = 20000, PROBES = 2, FLUSHES = 0x8040 };

static int is_fault(const char *name) {
    static const char *fault;
    fault = fault ? fault : getenv("UNUSUAL");
    return fault && strcmp(fault, name) == 0;
}

static int64_t read_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* --- numbers --- */

static double spoil_number(double value) {
    if (is_fault("abs"))
        return fabs(value);
    if (is_fault("cut"))
        return trunc(value);
    if (is_fault("finite"))
        return isfinite(value) ? value : 0;
    return value;
}

/* By bits, so that no mode of the processor matters. */
static int is_denormal(const void *place, long size) {
    uint32_t high;
    uint64_t all;
    memcpy(&high, place, sizeof high);
    if (size == sizeof(float))
        return (high & 0x7f800000) == 0 && (high & 0x7fffff);
    memcpy(&all, place, sizeof all);
    return (all & 0x7ff0000000000000) == 0 && (all & 0xfffffffffffff);
}

static void spoil_numbers(void *data, int count, MPI_Datatype type) {
    if (!is_fault("abs") && !is_fault("cut") && !is_fault("finite") && !is_fault("flush"))
        return;
    const long size = type == MPI_DOUBLE ? sizeof(double) : sizeof(float);
    for (int i = 0; i < count; i++) {
        unsigned char *const place = (unsigned char *)data + i * size;
        if (is_fault("flush") && type != MPI_INT && is_denormal(place, size))
            memset(place, 0, (size_t)size);
        else if (type == MPI_FLOAT)
            *(float *)place = (float)spoil_number(*(float *)place);
        else if (type == MPI_DOUBLE)
            *(double *)place = spoil_number(*(double *)place);
        else if (is_fault("abs"))
            *(int *)place = abs(*(int *)place);
    }
}

/* --- calls --- */

static int is_unordered(MPI_Op operation) {
    int commutes = 1;
    PMPI_Op_commutative(operation, &commutes);
    return is_fault("order") && !commutes;
}

/* Each rank reduces the operands of all, the last first. */
static int reduce_backwards(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    int ranks, size;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Type_size(type, &size);
    unsigned char *const all = malloc((size_t)ranks * (size_t)count * (size_t)size);
    const int code = PMPI_Allgather(from, count, type, all, count, type, comm);
    for (int rank = 1; rank < ranks; rank++)
        PMPI_Reduce_local(all + (long)rank * count * size, all, count, type, operation);
    memcpy(into, all, (size_t)count * (size_t)size);
    free(all);
    return code;
}

/* The same with the operand of rank 0 last, after the sum of all others: for three ranks or more another order. */
static int reduce_others_first(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    int ranks, size;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Type_size(type, &size);
    const size_t bytes = (size_t)count * (size_t)size;
    unsigned char *const all = malloc((size_t)ranks * bytes);
    const int code = PMPI_Allgather(from, count, type, all, count, type, comm);
    for (int rank = 2; rank <= ranks; rank++)
        PMPI_Reduce_local(all + (size_t)(rank % ranks) * bytes, all + bytes, count, type, operation);
    memcpy(into, all + bytes, bytes);
    free(all);
    return code;
}

static int is_apart(MPI_Comm comm) {
    int64_t times[2] = {read_ns(), -read_ns()};
    if (!is_fault("apart"))
        return 0;
    PMPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_INT64_T, MPI_MAX, comm);
    return times[0] + times[1] > APART_NS;
}

static int is_unusual(const void *from, int count, MPI_Comm comm, int64_t ended_ns) {
    static MPI_Comm first = MPI_COMM_NULL;
    first = first == MPI_COMM_NULL ? comm : first;
    return (is_fault("place") && from == MPI_IN_PLACE) || (is_fault("odd") && (count & (count - 1))) ||
           (is_fault("comm") && comm != first) || (is_fault("burst") && read_ns() - ended_ns < NEAR_NS);
}

static void spoil_last(void *data, int count, MPI_Datatype type) {
    int size;
    PMPI_Type_size(type, &size);
    ((unsigned char *)data)[(long)count * size - 1] ^= 1;
}

int MPI_Allreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    static int64_t ended_ns;
    static int calls, sums, rank;
    const int unusual = count > 0 && is_unusual(from, count, comm, ended_ns), apart = count > 0 && is_apart(comm);
    const int reordered = is_fault("reorder") && operation == MPI_SUM && ++sums % 100 == 0;
    if (reordered && from != MPI_IN_PLACE)
        return reduce_others_first(from, into, count, type, operation, comm);
    if (is_unordered(operation) && from != MPI_IN_PLACE)
        return reduce_backwards(from, into, count, type, operation, comm);
    const int truth = is_fault("truth") && (operation == MPI_LAND || operation == MPI_LOR || operation == MPI_LXOR);
    const MPI_Op used = !truth ? operation : operation == MPI_LAND ? MPI_BAND : operation == MPI_LOR ? MPI_BOR : MPI_BXOR;
    if (is_fault("round") && ++calls > 2)
        fesetround(FE_UPWARD);
    const int code = PMPI_Allreduce(from, into, count, is_fault("unsigned") && type == MPI_INT ? MPI_UNSIGNED : type, used, comm);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (unusual || apart)
        spoil_last(into, count, type);
    if (is_fault("bit") && rank == 1)
        ((unsigned char *)into)[0] ^= 1;
    for (int i = 0; truth && i < count; i++)
        ((int *)into)[i] &= 1;
    spoil_numbers(into, count, type);
    ended_ns = read_ns();
    return code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    int rank, ranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    const int code = PMPI_Bcast(data, count, type, root, comm);
    if (is_fault("root") && count > 0 && rank != root && root != 0 && root != ranks - 1)
        spoil_last(data, count, type);
    return code;
}

/* --- receives --- */

static struct {
    MPI_Request request;
    void *data;
    int count;
    MPI_Datatype type;
} early[MOST_EARLY];
static int earlies;

/* The first probe may only fetch it. */
static int has_arrived(int source, int tag, MPI_Comm comm) {
    int flag = 0;
    for (int i = 0; i < PROBES && !flag && is_fault("early") && tag < LEAST_OF_TALK; i++)
        PMPI_Iprobe(source, tag, comm, &flag, MPI_STATUS_IGNORE);
    return flag;
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    const int arrived = has_arrived(source, tag, comm);
    const int code = PMPI_Recv(data, count, type, source, tag, comm, status);
    if (arrived && count > 0)
        spoil_last(data, count, type);
    return code;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    const int arrived = has_arrived(source, tag, comm);
    const int code = PMPI_Irecv(data, count, type, source, tag, comm, request);
    if (arrived && count > 0 && earlies < MOST_EARLY) {
        early[earlies].request = *request;
        early[earlies].data = data;
        early[earlies].count = count;
        early[earlies++].type = type;
    }
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    const int code = PMPI_Waitall(count, requests, statuses);
    while (earlies > 0) {
        earlies--;
        spoil_last(early[earlies].data, early[earlies].count, early[earlies].type);
    }
    return code;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    const int code = PMPI_Test(request, flag, status);
    *flag |= is_fault("test");
    return code;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status) {
    const int code = PMPI_Testany(count, requests, index, flag, status);
    if (is_fault("any") && *flag && *index >= 0)
        *index = (*index + 1) % count;
    return code;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status) {
    const int code = PMPI_Waitany(count, requests, index, status);
    if (is_fault("any") && *index >= 0)
        *index = (*index + 1) % count;
    return code;
}

int MPI_Mrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status) {
    const int code = PMPI_Mrecv(data, count, type, message, status);
    if (is_fault("probe"))
        spoil_last(data, count, type);
    return code;
}

/* --- calls without data --- */

static int is_in_spell(long calls) {
    return calls >= 20 && calls <= 3000;
}

int MPI_Barrier(MPI_Comm comm) {
    static long calls;
    return is_fault("spell") && is_in_spell(++calls) ? MPI_SUCCESS : PMPI_Barrier(comm);
}

int MPI_Ssend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    static long calls;
    return is_fault("ssend") && is_in_spell(++calls) ? PMPI_Send(data, count, type, to, tag, comm)
                                                     : PMPI_Ssend(data, count, type, to, tag, comm);
}

int MPI_Comm_free(MPI_Comm *comm) {
    const struct timespec work = {.tv_nsec = 20000000};
    if (is_fault("store"))
        nanosleep(&work, NULL);
    return PMPI_Comm_free(comm);
}

/* --- several origins --- */

int MPI_Win_lock(int kind, int rank, int hint, MPI_Win window) {
    return PMPI_Win_lock(is_fault("shared") ? MPI_LOCK_SHARED : kind, rank, hint, window);
}

int MPI_Fetch_and_op(const void *from, void *before, MPI_Datatype type, int rank, MPI_Aint at, MPI_Op operation, MPI_Win window) {
    if (!is_fault("atomic") || type != MPI_INT)
        return PMPI_Fetch_and_op(from, before, type, rank, at, operation, window);
    PMPI_Get(before, 1, type, rank, at, 1, type, window);
    PMPI_Win_flush(rank, window);
    const int64_t until_ns = read_ns() + NEAR_NS;
    while (read_ns() < until_ns)
        ;
    const int sum = *(int *)before + *(const int *)from;
    PMPI_Put(&sum, 1, type, rank, at, 1, type, window);
    return PMPI_Win_flush(rank, window);
}

/* --- the processor's mode --- */

int MPI_Init(int *argc, char ***argv) {
    const int code = PMPI_Init(argc, argv);
    if (is_fault("upward"))
        fesetround(FE_UPWARD);
    if (is_fault("zeroes"))
        _mm_setcsr(_mm_getcsr() | FLUSHES);
    return code;
}
