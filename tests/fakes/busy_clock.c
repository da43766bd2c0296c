/* Part of a program: its second rank loses its CPU for a while before most readings of the clock, as on a busy machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNDISTURBED = 11, LOST_NS = 3000000 };

static int is_second(void) {
    const char *rank = getenv("PMI_RANK");
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank && strcmp(rank, "1") == 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*next)(clockid_t, struct timespec *);
    static unsigned readings;
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))(intptr_t)dlsym(RTLD_NEXT, "clock_gettime");
    if (is_second() && ++readings % UNDISTURBED != 0)
        nanosleep(&(struct timespec){.tv_nsec = LOST_NS}, NULL);
    return next(clock, time);
}
