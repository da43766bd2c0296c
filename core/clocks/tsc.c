/* The processor's counter, read without the kernel: the time-stamp counter of x86, CNTVCT of Arm, the time base of
 * POWER.
 *
 * It is usable as a clock if its rate is constant in all states of the processor, and equal on all cores. The rate is
 * reported by the kernel or by the processor, else measured; it is always compared with the kernel's monotonic clock. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "base/op.h"
#include "base/scan.h"
#include "base/steady.h"

/* If the counter deviates more than this from the monotonic clock, the reported frequency is wrong. */
static const double MOST_OFF = 1e-3;
enum { CHECK_NS = 20000000, FRACTION_BITS = 32 };

/* Nanoseconds = ticks since the base * scale / 2^32. */
static struct {
    uint64_t base_ticks;
    uint64_t scale;
} parameters;

#if defined(__x86_64__)
#define COUNTER "tsc"

static inline uint64_t read_ticks(void) {
    unsigned cpu;
    return __rdtscp(&cpu);
}

static double read_processor_hz(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
        return (double)c * b / a;
    /* Reported by some hypervisors, in kHz. */
    __cpuid(0x40000000, a, b, c, d);
    if (a >= 0x40000010 && a < 0x40010000) {
        __cpuid(0x40000010, a, b, c, d);
        return a * 1e3;
    }
    return 0;
}

static bool is_trusted_by_kernel(void) {
    char names[256] = "";
    scan_file("/sys/devices/system/clocksource/clocksource0/available_clocksource", "%255[^\n]", names);
    return strstr(names, "tsc") != NULL;
}

static const char *why_not(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return "not invariant: its rate follows that of the processor";
    return is_trusted_by_kernel() ? NULL : "the kernel does not trust it: it may differ between cores";
}
#elif defined(__aarch64__)
#define COUNTER "cntvct"

static inline uint64_t read_ticks(void) {
    uint64_t value;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value)::"memory");
    return value;
}

static double read_processor_hz(void) {
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    return (double)hertz;
}

static const char *why_not(void) {
    return NULL;
}
#elif defined(__powerpc64__)
#define COUNTER "timebase"

static inline uint64_t read_ticks(void) {
    return __builtin_ppc_get_timebase();
}

static double read_processor_hz(void) {
    double hertz = 0;
    scan_file("/proc/cpuinfo", "timebase : %lf", &hertz);
    return hertz;
}

static const char *why_not(void) {
    return NULL;
}
#else
#define COUNTER "counter"

static inline uint64_t read_ticks(void) {
    return 0;
}

static double read_processor_hz(void) {
    return 0;
}

static const char *why_not(void) {
    return "this kind of processor has no counter that rankbench knows";
}
#endif

/* The kernel's own conversion to nanoseconds, which it shows to programs that may count their own events. */
static double read_kernel_hz(void) {
    double hertz = 0;
#if defined(__linux__)
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = sizeof event, .config = PERF_COUNT_SW_DUMMY};
    event.exclude_kernel = 1;
    const int file = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
    if (file < 0)
        return 0;
    const struct perf_event_mmap_page *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, file, 0);
    if (page != MAP_FAILED) {
        if (page->cap_user_time && page->time_mult)
            hertz = 1e9 * ldexp(1.0, page->time_shift) / page->time_mult;
        munmap((void *)(uintptr_t)page, (size_t)sysconf(_SC_PAGESIZE));
    }
    close(file);
#endif
    return hertz;
}

/* Readings of both clocks at the same time, the best of several. */
static void read_with_steady(uint64_t *counter, int64_t *monotonic_ns) {
    uint64_t narrowest = UINT64_MAX;
    for (int try = 0; try < 20; try++) {
        const uint64_t before = read_ticks();
        const int64_t between_ns = read_steady_ns();
        const uint64_t after = read_ticks();
        if (after - before < narrowest) {
            narrowest = after - before;
            *counter = before + (after - before) / 2;
            *monotonic_ns = between_ns;
        }
    }
}

/* Readings when the process began. */
static uint64_t first;
static int64_t first_ns;

__attribute__((constructor)) static void read_both_first(void) {
    if (!why_not())
        read_with_steady(&first, &first_ns);
}

/* The rate since the process began. Only what is missing of the time for a check is waited for: usually MPI_Init took
 * longer, and a launch that takes turns holds up the others. */
static double measure_hz(void) {
    uint64_t last = 0;
    int64_t last_ns = 0;
    const int64_t missing_ns = first_ns + CHECK_NS - read_steady_ns();
    const struct timespec nap = {.tv_nsec = missing_ns};
    if (missing_ns > 0)
        nanosleep(&nap, NULL);
    read_with_steady(&last, &last_ns);
    return (double)(last - first) * 1e9 / (double)(last_ns - first_ns);
}

static bool prepare(char reason[REASON_BYTES]) {
    const char *against = why_not();
    const char *reference_name = "the kernel";
    if (against) {
        snprintf(reason, REASON_BYTES, "%s", against);
        return false;
    }
    const double measured = measure_hz();
    double hertz = read_kernel_hz();
    if (!(hertz > 0)) {
        hertz = read_processor_hz();
        reference_name = "the processor";
    }
    if (!(hertz > 0)) {
        hertz = measured;
        reference_name = "measurement";
    }
    const double off = measured / hertz - 1;
    if (!(fabs(off) < MOST_OFF)) {
        snprintf(reason, REASON_BYTES, "%.3f MHz by %s, but %.3f MHz by the monotonic clock", hertz / 1e6, reference_name,
                 measured / 1e6);
        return false;
    }
    parameters.base_ticks = read_ticks();
    parameters.scale = (uint64_t)llround(ldexp(1e9 / hertz, FRACTION_BITS));
    snprintf(reason, REASON_BYTES, "invariant; %.3f MHz by %s, %.1f ppm off the monotonic clock", hertz / 1e6, reference_name,
             off * 1e6);
    return true;
}

__extension__ typedef unsigned __int128 wide;

static int64_t read_ns(void) {
    return (int64_t)((wide)(read_ticks() - parameters.base_ticks) * parameters.scale >> FRACTION_BITS);
}

static const struct source tsc = {
    .name = COUNTER,
    .help = "the processor's counter, if its rate is constant: the finest clock, and the cheapest to read",
    .sharing = SHARED_BY_KERNEL,
    .read_ns = read_ns,
    .prepare = prepare,
    .parameters = &parameters,
    .parameter_bytes = sizeof parameters,
};
REGISTER(source, tsc);
