/* Free memory for the buffers of a case: of the host, and within limits of jobs and containers. */
#include "case/free_memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "base/scan.h"

static bool read_amount(const char *folder, const char *name, const char *format, double *bytes) {
    char path[2 * LINE_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return scan_file(path, format, bytes) == 1; /* Without a limit the file contains `max`. */
}

/* Memory left by control groups of this process and their parents, which schedulers and containers limit. */
static double read_group_memory(void) {
    char group[LINE_BYTES], path[2 * LINE_BYTES - 32] = "";
    double remaining_bytes = 1e30, limit, used, cached = 0;
    if (scan_file("/proc/self/cgroup", "0::%511[^\n]", group) == 1 && *group == '/')
        snprintf(path, sizeof path, "/sys/fs/cgroup%s", group);
    for (char *end; strlen(path) > strlen("/sys/fs/"); *end = '\0') {
        read_amount(path, "memory.stat", "inactive_file %lf", &cached); /* Cached files, which the kernel drops. */
        if (read_amount(path, "memory.max", "%lf", &limit) && read_amount(path, "memory.current", "%lf", &used))
            remaining_bytes = fmin(remaining_bytes, limit - used + cached);
        end = strrchr(path, '/');
    }
    return remaining_bytes;
}

double read_free_memory(void) {
    double kib = -1;
    scan_file("/proc/meminfo", "MemAvailable: %lf kB", &kib);
    return fmin(kib < 0 ? 1e30 : kib * 1024, read_group_memory());
}
