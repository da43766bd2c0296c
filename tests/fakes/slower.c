/* Preloaded between the core and MPI: makes one call slower by a known share of its time.
 *
 * SLOWER is the call and the percentage: `allreduce 5`. With 0 the call is timed as well, so that two launches differ
 * in the share only. Since a call may take a quarter of a microsecond, and a reading of a clock a tenth of that, calls
 * are timed by the processor's counter, if there is one, and the share is spent in a loop of known speed. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 10000, TRIES = 51, LEAST_ROUNDS = 20 };

#if defined(__x86_64__) || defined(__i386__)
static uint64_t now(void) {
    return __builtin_ia32_rdtsc();
}
#else
static uint64_t now(void) {
    struct timespec read;
    clock_gettime(CLOCK_MONOTONIC, &read);
    return 1000000000 * (uint64_t)read.tv_sec + (uint64_t)read.tv_nsec;
}
#endif

static void spin(uint64_t rounds) {
    while (rounds--)
        __asm__ volatile("" ::: "memory");
}

/* The share that is added to a call; negative: none. */
static double read_share(const char *call) {
    const char *setting = getenv("SLOWER");
    const size_t length = strlen(call);
    return setting && strncmp(setting, call, length) == 0 && setting[length] == ' ' ? atof(setting + length) / 100 : -1;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Rounds of the loop per step of the counter, at the processor's usual speed. */
static double measure_speed(void) {
    double rates[TRIES];
    for (int i = 0; i < TRIES; i++) {
        const uint64_t began = now();
        spin(ROUNDS);
        rates[i] = (double)ROUNDS / (double)(now() - began);
    }
    qsort(rates, TRIES, sizeof *rates, compare);
    return rates[TRIES / 2];
}

static double speed;

/* At least some rounds, since the end of a very short loop is mispredicted, which would cost more. */
static void wait_share(uint64_t began, double share) {
    spin(LEAST_ROUNDS + (uint64_t)(share * speed * (double)(now() - began)));
}

static double read_share_and_speed(const char *call) {
    speed = measure_speed();
    return read_share(call);
}

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
    static double share = -2;
    if (share < -1)
        share = read_share_and_speed("allreduce");
    if (share < 0)
        return PMPI_Allreduce(from, to, count, type, operation, comm);
    const uint64_t began = now();
    const int code = PMPI_Allreduce(from, to, count, type, operation, comm);
    wait_share(began, share);
    return code;
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    static double share = -2;
    if (share < -1)
        share = read_share_and_speed("bcast");
    if (share < 0)
        return PMPI_Bcast(data, count, type, root, comm);
    const uint64_t began = now();
    const int code = PMPI_Bcast(data, count, type, root, comm);
    wait_share(began, share);
    return code;
}
