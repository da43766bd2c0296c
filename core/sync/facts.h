/* Where a rank runs, and with which library. */
#ifndef RANKBENCH_FACTS_H
#define RANKBENCH_FACTS_H

#include "base/core.h"
#include "base/op.h"

enum { VERSION_BYTES = 8192, IDENTITY_BYTES = 192, FACT_BYTES = LINE_BYTES / 2 };

struct rank_fact {
    char host[NAME_BYTES * 2];
    char cpus[FACT_BYTES];
    char clock[IDENTITY_BYTES];
    char libmpi[FACT_BYTES];
    int cpu;
    /* Topology of that CPU by the system's numbers; -1: unknown. */
    int core, socket, numa;
};

struct launch_fact {
    char library[VERSION_BYTES];
    int mpi_version;
    int mpi_subversion;
    int64_t last_level_cache_bytes;
    /* The CPUs that share it with this rank's CPU. */
    char cache_sharers[FACT_BYTES];
};

struct rank_fact read_rank_fact(const struct source *source);
struct launch_fact read_launch_fact(void);
/* The CPU of the rank before it may have moved: `cpu`, or the reported one if its allowed CPUs were changed since. */
int find_cpu_before(int cpu);
void read_identity(enum sharing sharing, char into[IDENTITY_BYTES]);
int64_t read_namespace_offset_ns(void);

#endif
