/* Where a rank really runs and what it reads its time from: asked of the system inside the launched job. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"

static void copy(char *into, size_t size, const char *text) {
    snprintf(into, size, "%s", text);
    into[strcspn(into, "\n")] = '\0';
}

static void read_status(const char *key, char *into, size_t size) {
    char line[LINE_BYTES];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, key, strlen(key)) == 0)
            copy(into, size, line + strlen(key) + strspn(line + strlen(key), ": \t"));
    if (status)
        fclose(status);
}

static bool is_mpi_library(const char *path) {
    const char *const stems[] = {"libmpi.so", "libmpich.so", "libmpi_abi.so", "libsimgrid.so"};
    const char *name = strrchr(path, '/');
    for (int i = 0; name && i < LENGTH(stems); i++)
        if (strncmp(name + 1, stems[i], strlen(stems[i])) == 0)
            return true;
    return false;
}

static void read_libmpi(char *into, size_t size) {
    char line[LINE_BYTES * 2];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && *into == '\0' && fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path && is_mpi_library(path))
            copy(into, size, path);
    }
    if (maps)
        fclose(maps);
}

/* Processes under one kernel and in one time namespace read one CLOCK_MONOTONIC: its identity is these two together. Where
 * they cannot be read, every process is taken to have a clock of its own. */
static void read_clock(char *into, size_t size, const char *host) {
    char boot[LINE_BYTES] = "", space[LINE_BYTES] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file && fgets(boot, sizeof boot, file))
        boot[strcspn(boot, "\n")] = '\0';
    if (file)
        fclose(file);
    const bool known = readlink("/proc/self/ns/time", space, sizeof space - 1) > 0 || errno == ENOENT;
    if (known && *boot)
        snprintf(into, size, "%.80s/%.80s", boot, *space ? space : "one time namespace");
    else
        snprintf(into, size, "unknown, of process %d on %.80s", (int)getpid(), host);
}

struct rank_fact read_rank_fact(void) {
    struct rank_fact fact;
    memset(&fact, 0, sizeof fact);
    gethostname(fact.host, sizeof fact.host - 1);
    read_status("Cpus_allowed_list", fact.cpus, sizeof fact.cpus);
    read_clock(fact.clock, sizeof fact.clock, fact.host);
    read_libmpi(fact.libmpi, sizeof fact.libmpi);
    fact.cpu = sched_getcpu();
    return fact;
}

static int64_t smallest_step(const struct source *source) {
    int64_t smallest = INT64_MAX;
    for (int i = 0; i < 100; i++) {
        const int64_t before = source->read_ns();
        int64_t after = before;
        while (after == before)
            after = source->read_ns();
        if (after - before < smallest)
            smallest = after - before;
    }
    return smallest;
}

static double smallest_cost(const struct source *source) {
    enum { READS = 1000, TRIES = 20 };
    double smallest = 1e30;
    for (int try = 0; try < TRIES; try++) {
        const int64_t before = source->read_ns();
        for (int i = 1; i < READS; i++)
            source->read_ns();
        const double cost = (double)(source->read_ns() - before) / READS;
        if (cost < smallest)
            smallest = cost;
    }
    return smallest;
}

struct launch_fact read_launch_fact(const struct source *source) {
    struct launch_fact fact;
    int length = 0;
    memset(&fact, 0, sizeof fact);
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    if (MPI_Get_library_version(text, &length) == MPI_SUCCESS)
        snprintf(fact.library, sizeof fact.library, "%s", text);
    MPI_Get_version(&fact.mpi_version, &fact.mpi_subversion);
    fact.resolution_ns = smallest_step(source);
    fact.cost_ns = smallest_cost(source);
    return fact;
}
