/* Values are means over a fixed work or a fixed time, not medians of pieces: a core that something else uses half of the
 * time is slow in the mean only. */
#include "study/node_speed.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/steady.h"
#include "base/tree.h"
#include "study/link_speed.h"
#include "sync/clock.h"

enum { STEPS = 1 << 22, COPY_NS = 30000000, LEAST_COPY_BYTES = 8 << 20, MOST_COPY_BYTES = 32 << 20, LEAST_COPIES = 2 };
enum { LINE_BYTES_APART = 128, HAND_OVERS = 2000, UNTIMED_HAND_OVERS = 20, SPINS_PER_YIELD = 1000 };

static double time_step_ns(void) {
    volatile uint64_t result;
    uint64_t x = 1;
    const int64_t before = read_steady_ns();
    for (int i = 0; i < STEPS; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    result = x;
    (void)result;
    return (double)(read_steady_ns() - before) / STEPS;
}

/* 0: there is not enough memory. */
static double copy_memory(const struct world *world) {
    const int64_t share = 2 * world->last_level_cache_bytes / max(1, world->ranks_on_cache);
    const size_t bytes = (size_t)min(MOST_COPY_BYTES, max(LEAST_COPY_BYTES, share));
    char *const from = try_memory(2 * bytes);
    if (from)
        memset(from, 1, 2 * bytes);
    dissemination_barrier(&world->hosts->readers);
    if (!from)
        return 0;
    const int64_t before = read_steady_ns();
    int copies = 0;
    for (; copies < LEAST_COPIES || read_steady_ns() < before + COPY_NS; copies++) {
        memcpy(from + bytes, from, bytes);
        from[copies % (int)LEAST_COPY_BYTES] = from[bytes]; /* So that no copy can be left out. */
    }
    const double elapsed_ns = (double)(read_steady_ns() - before);
    free(from);
    return 2e9 * (double)bytes * copies / elapsed_ns;
}

/* --- hand-over of a cache line --- */

static void await_value(const atomic_uint *line, unsigned value) {
    for (unsigned spins = 1; atomic_load_explicit(line, memory_order_acquire) != value; spins++)
        if (spins % SPINS_PER_YIELD == 0)
            sched_yield();
}

static double pass_line(atomic_uint *line, bool asks) {
    int64_t before = 0;
    for (unsigned i = 0; i < UNTIMED_HAND_OVERS + HAND_OVERS; i++) {
        if (i == UNTIMED_HAND_OVERS)
            before = read_steady_ns();
        if (!asks)
            await_value(line, 2 * i + 1);
        atomic_store_explicit(line, 2 * i + (asks ? 1 : 2), memory_order_release);
        if (asks)
            await_value(line, 2 * i + 2);
    }
    return (double)(read_steady_ns() - before) / (2 * HAND_OVERS);
}

/* A line for every two ranks in memory that the ranks of the node share. */
static double time_line_ns(const struct team *node, int neighbour) {
    MPI_Win window;
    MPI_Aint bytes;
    int unit;
    char *memory;
    const MPI_Aint needed = node->rank == 0 ? (MPI_Aint)LINE_BYTES_APART * node->ranks : 0;
    const int code = MPI_Win_allocate_shared(needed, 1, MPI_INFO_NULL, node->comm, &memory, &window);
    if (code != MPI_SUCCESS)
        return 0;
    abort_on_error(MPI_Win_shared_query(window, 0, &bytes, &unit, &memory), "MPI_Win_shared_query");
    atomic_uint *const line = (atomic_uint *)(void *)(memory + (size_t)LINE_BYTES_APART * (size_t)(node->rank / 2));
    if (node->rank % 2 == 0)
        atomic_store(line, 0);
    dissemination_barrier(node);
    const double line_ns = neighbour < 0 ? 0 : pass_line(line, node->rank % 2 == 0);
    dissemination_barrier(node);
    abort_on_error(MPI_Win_free(&window), "MPI_Win_free");
    return line_ns;
}

struct node_speed measure_node_speed(const struct world *world) {
    const struct clock *const host = world->hosts;
    const struct team *const node = &host->readers;
    const int beside = node->rank ^ 1, neighbour = beside < node->ranks ? beside : -1;
    struct node_speed speed = {0};
    dissemination_barrier(node);
    speed.step_ns = time_step_ns();
    speed.copied_bytes_per_s = copy_memory(world);
    if (node->ranks > 1)
        speed.line_ns = time_line_ns(node, neighbour);
    dissemination_barrier(node);
    if (neighbour >= 0)
        speed.message_ns = time_message_ns(node, neighbour, node->rank % 2 == 0);
    return speed;
}
