/* The clock of the recorder: the processor's counter where it runs at one rate, and how it relates to CLOCK_MONOTONIC and
 * to the clock of rank 0. */
#include "recorder.h"
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum { EXCHANGES = 20, TAG = 9731, INVARIANT = 1 << 8 };

bool has_ticks;

int64_t read_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The pair of readings that were closest to each other among some: a rank can lose its CPU between the two. */
void read_pair(uint64_t *ticks, int64_t *ns) {
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < EXCHANGES; i++) {
        const uint64_t before = read_ticks();
        const int64_t now = read_ns();
        const uint64_t after = read_ticks();
        if (after - before < shortest) {
            shortest = after - before;
            *ticks = before + (after - before) / 2;
            *ns = now;
        }
    }
}

static uint64_t loaded_ticks;
static int64_t loaded_ns;

__attribute__((constructor)) void choose_ticks(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    has_ticks = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & INVARIANT);
#endif
    read_pair(&loaded_ticks, &loaded_ns);
}

/* Rank 0 answers each rank in turn; the shortest exchange decides. */
static int64_t exchange_times(MPI_Comm own, int rank, int ranks, int64_t *bound) {
    int64_t offset = 0, shortest = INT64_MAX;
    for (int other = 1; other < ranks; other++)
        for (int i = 0; i < EXCHANGES && (rank == 0 || rank == other); i++) {
            int64_t now = 0;
            const int64_t before = read_ns();
            if (rank == 0) {
                library.Recv(&now, sizeof now, library.byte, other, TAG, own, MPI_STATUS_IGNORE);
                now = read_ns();
                library.Send(&now, sizeof now, library.byte, other, TAG, own);
                continue;
            }
            library.Send(&before, sizeof before, library.byte, 0, TAG, own);
            library.Recv(&now, sizeof now, library.byte, 0, TAG, own, MPI_STATUS_IGNORE);
            const int64_t after = read_ns();
            if (after - before < shortest) {
                shortest = after - before;
                offset = now - before - (after - before) / 2;
            }
        }
    *bound = rank == 0 ? 1 : shortest / 2;
    return offset;
}

/* Ranks of one node share a clock. Otherwise all compare theirs with rank 0, on a communicator of the recorder. */
void compare_clocks(struct header *to, bool last) {
    static MPI_Comm own;
    static bool several;
    int64_t offset = 0;
    if (!last) {
        int here = 0;
        MPI_Comm node;
        library.Comm_split_type(library.world, MPI_COMM_TYPE_SHARED, 0, library.no_info, &node);
        library.Comm_size(node, &here);
        library.Comm_free(&node);
        several = here != (int)to->ranks;
        if (several)
            library.Comm_dup(library.world, &own);
    }
    if (several)
        offset = exchange_times(own, (int)to->rank, (int)to->ranks, &to->offset_bound_ns);
    if (last && several)
        library.Comm_free(&own);
    if (!last) {
        read_pair(&to->first_ticks, &to->first_ns);
        to->ticks_per_ns = (double)(to->first_ticks - loaded_ticks) / (double)(to->first_ns - loaded_ns);
    }
    *(last ? &to->last_offset_ns : &to->first_offset_ns) = offset;
}
