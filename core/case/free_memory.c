/* Free memory for the buffers of a case: of the host, and within limits of jobs and containers. */
#include "case/free_memory.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"

static bool read_amount(const char *path, const char *name, const char *format, double *bytes) {
    char line[2 * LINE_BYTES];
    bool read = false;
    snprintf(line, sizeof line, "%s/%s", path, name);
    FILE *file = fopen(line, "r");
    while (file && !read && fgets(line, sizeof line, file))
        read = sscanf(line, format, bytes) == 1; /* Without a limit the file contains `max`. */
    if (file)
        fclose(file);
    return read;
}

/* Memory left by control groups of this process and their parents, which schedulers and containers limit. */
static double read_group_memory(void) {
    char line[LINE_BYTES], path[2 * LINE_BYTES - 32] = "";
    double remaining_bytes = 1e30, limit, used, cached = 0;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "0::/", 4) == 0)
            snprintf(path, sizeof path, "/sys/fs/cgroup%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (file)
        fclose(file);
    for (char *end; strlen(path) > strlen("/sys/fs/"); *end = '\0') {
        read_amount(path, "memory.stat", "inactive_file %lf", &cached); /* Cached files, which the kernel drops. */
        if (read_amount(path, "memory.max", "%lf", &limit) && read_amount(path, "memory.current", "%lf", &used))
            remaining_bytes = fmin(remaining_bytes, limit - used + cached);
        end = strrchr(path, '/');
    }
    return remaining_bytes;
}

double read_free_memory(void) {
    char line[LINE_BYTES];
    double kib = -1;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %lf kB", &kib) != 1)
            kib = -1;
    if (file)
        fclose(file);
    const double free_bytes = kib < 0 ? 1e30 : kib * 1024, allowed_bytes = read_group_memory();
    return free_bytes < allowed_bytes ? free_bytes : allowed_bytes;
}
