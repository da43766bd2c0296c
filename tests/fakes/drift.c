/* Preloaded: gives the ranks of a launch clocks with a drift. Instead of t, rank r reads
 *
 *     t + shift + (m - origin) * ppm / 10^6,    where m is CLOCK_MONOTONIC_RAW at that time,
 *
 * DRIFT_PPM and DRIFT_SHIFT_NS are comma-separated lists of the ranks' ppm and shifts (0 for ranks beyond the list), and
 * DRIFT_ORIGIN_NS is the time from which clocks drift. So the reading of each rank is known for any time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "rank.h"

typedef int reader(clockid_t, struct timespec *);

static reader *real_reader;
static double speed, shift_ns;
static int64_t origin_ns;

static double read_setting(const char *name) {
    const char *entry = find_entry(getenv(name), read_launch_rank());
    return entry ? strtod(entry, NULL) : 0;
}

/* Called by the first reading, which may precede the constructors of other libraries. */
static void set_up(void) {
    const char *origin = getenv("DRIFT_ORIGIN_NS");
    real_reader = (reader *)dlsym(RTLD_NEXT, "clock_gettime");
    speed = read_setting("DRIFT_PPM") / 1e6;
    shift_ns = read_setting("DRIFT_SHIFT_NS");
    origin_ns = origin ? strtoll(origin, NULL, 10) : 0;
}

static int64_t to_ns(const struct timespec *time) {
    return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

static void advance(struct timespec *time, int64_t by_ns) {
    const int64_t second_ns = 1000000000, sum_ns = to_ns(time) + by_ns;
    time->tv_nsec = (sum_ns % second_ns + second_ns) % second_ns;
    time->tv_sec = (sum_ns - time->tv_nsec) / second_ns;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    struct timespec raw;
    if (!real_reader)
        set_up();
    const int code = real_reader(clock, now);
    const int is_time = clock >= 0 && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
    if (code != 0 || !is_time || (speed == 0 && shift_ns == 0))
        return code;
    if (clock == CLOCK_MONOTONIC_RAW)
        raw = *now;
    else
        real_reader(CLOCK_MONOTONIC_RAW, &raw);
    advance(now, llrint(shift_ns + (double)(to_ns(&raw) - origin_ns) * speed));
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    const int code = clock_gettime(CLOCK_REALTIME, &time);
    *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
    return code;
}
