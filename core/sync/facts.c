/* Where a rank runs and which clock it reads, as reported by the system inside the launch. */
#define _GNU_SOURCE
#include "sync/facts.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core.h"
#include "base/scan.h"
#include "sync/clock.h"

enum { MOST_CACHES = 8 };

static void copy_line(char *into, size_t size, const char *text) {
    snprintf(into, size, "%s", text);
    into[strcspn(into, "\n")] = '\0';
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
            copy_line(into, size, path);
    }
    if (maps)
        fclose(maps);
}

/* Processes under one kernel read one clock of the processor, and those in one time namespace one CLOCK_MONOTONIC. If
 * that is unknown, every process is assumed to have its own clock. */
void read_identity(enum sharing sharing, char into[IDENTITY_BYTES]) {
    char boot[NAME_BYTES] = "", space[NAME_BYTES] = "", host[NAME_BYTES] = "";
    scan_file("/proc/sys/kernel/random/boot_id", "%47[^\n]", boot);
    const bool known = readlink("/proc/self/ns/time", space, sizeof space - 1) > 0 || errno == ENOENT;
    gethostname(host, sizeof host - 1);
    if (sharing == SHARED_BY_NOBODY || !*boot || (sharing == SHARED_BY_NAMESPACE && !known))
        snprintf(into, IDENTITY_BYTES, "of process %d on %s", (int)getpid(), host);
    else if (sharing == SHARED_BY_NAMESPACE)
        snprintf(into, IDENTITY_BYTES, "%s/%s", boot, *space ? space : "one time namespace");
    else
        snprintf(into, IDENTITY_BYTES, "%s", boot);
}

/* Offset of this process' CLOCK_MONOTONIC from the kernel's. */
int64_t read_namespace_offset_ns(void) {
    long long seconds = 0, nanoseconds = 0;
    scan_file("/proc/self/timens_offsets", "monotonic %lld %lld", &seconds, &nanoseconds);
    return seconds * 1000000000 + nanoseconds;
}

/* A topology number of a CPU, or -1. */
static int read_number(int cpu, const char *what) {
    char path[LINE_BYTES];
    int number = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
    scan_file(path, "%d", &number);
    return number;
}

/* The folder of a CPU has a link named after its NUMA node, such as node0. */
static int read_numa(int cpu) {
    char path[LINE_BYTES];
    int numa = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && numa < 0 && (entry = readdir(folder));)
        if (sscanf(entry->d_name, "node%d", &numa) != 1)
            numa = -1;
    if (folder)
        closedir(folder);
    return numa;
}

/* CPU of this rank, and its allowed CPUs, when it reported its facts. */
static struct {
    cpu_set_t allowed;
    int cpu;
} first_place;

int find_cpu_before(int cpu) {
    cpu_set_t allowed;
    const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    return known && !CPU_EQUAL(&allowed, &first_place.allowed) ? first_place.cpu : cpu;
}

struct rank_fact read_rank_fact(const struct source *source) {
    struct rank_fact fact;
    memset(&fact, 0, sizeof fact);
    gethostname(fact.host, sizeof fact.host - 1);
    scan_file("/proc/self/status", "Cpus_allowed_list: %511[^\n]", fact.cpus);
    read_identity(source->sharing, fact.clock);
    read_libmpi(fact.libmpi, sizeof fact.libmpi);
    fact.cpu = first_place.cpu = sched_getcpu();
    sched_getaffinity(0, sizeof first_place.allowed, &first_place.allowed);
    fact.core = read_number(fact.cpu, "core_id");
    fact.socket = read_number(fact.cpu, "physical_package_id");
    fact.numa = read_numa(fact.cpu);
    return fact;
}

/* Size of the largest cache of a CPU from the kernel's tables, and the CPUs that share it; 0: unknown. sysconf adds up
 * the caches of several groups of CPUs. */
static int64_t read_cache(int cpu, char sharers[FACT_BYTES]) {
    char path[LINE_BYTES], unit = 'K';
    long long size = 0, largest = 0;
    for (int index = 0; index < MOST_CACHES; index++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index);
        if (scan_file(path, "%lld%c", &size, &unit) < 1)
            size = 0;
        size *= unit == 'M' ? 1 << 20 : unit == 'K' ? 1 << 10 : 1;
        if (size <= largest)
            continue;
        largest = size;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
        if (scan_file(path, "%511[^\n]", sharers) < 1)
            sharers[0] = '\0';
    }
    return largest;
}

/* Size of the last-level cache; a large value if it is unknown. */
static int64_t read_last_level_cache(int cpu, char sharers[FACT_BYTES]) {
    const int64_t cache_bytes = read_cache(cpu, sharers);
    if (cache_bytes > 0)
        return cache_bytes;
    const long sizes[] = {sysconf(_SC_LEVEL4_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE)};
    for (int i = 0; i < LENGTH(sizes); i++)
        if (sizes[i] > 0)
            return sizes[i];
    return 64 << 20;
}

struct launch_fact read_launch_fact(void) {
    struct launch_fact fact;
    int length = 0;
    memset(&fact, 0, sizeof fact);
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    if (MPI_Get_library_version(text, &length) == MPI_SUCCESS)
        snprintf(fact.library, sizeof fact.library, "%s", text);
    MPI_Get_version(&fact.mpi_version, &fact.mpi_subversion);
    fact.last_level_cache_bytes = read_last_level_cache(sched_getcpu(), fact.cache_sharers);
    return fact;
}
