#define _GNU_SOURCE
#include "study/network.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/allocation.h"
#include "base/tree.h"
#include "output/stream.h"
#include "sync/clock.h"
#include "sync/devices.h"

/* Large compared with other traffic of a remote shell and a launcher, and small compared with a launch: 34 ms at 1
 * Gbit/s. */
enum { CHUNK_BYTES = 1 << 18, CHUNKS = 16, PROBE_BYTES = CHUNK_BYTES * CHUNKS };
/* Some drivers update their counters every second or two. */
enum { LOOKS = 25, NAP_NS = 100000000 };

struct network {
    char sysfs[LINE_BYTES];
    bool probed;
    struct node node;
    struct devices before;
};

struct network *open_network(const struct world *world, const char *sysfs) {
    const struct clock *const host = world->hosts;
    if (host->readers.rank != 0)
        return NULL;
    struct network *const network = obtain_memory(sizeof *network);
    snprintf(network->sysfs, sizeof network->sysfs, "%s", *sysfs ? sysfs : "/sys");
    gethostname(network->node.host, sizeof network->node.host - 1);
    read_devices(network->sysfs, &network->before);
    return network;
}

static void send_round(const struct team *leaders) {
    enum { TAG = 2 };
    const int to = (leaders->rank + 1) % leaders->ranks, from = (leaders->rank + leaders->ranks - 1) % leaders->ranks;
    char *const data = obtain_memory(2 * CHUNK_BYTES);
    for (int i = 0; i < CHUNKS; i++)
        abort_on_error(MPI_Sendrecv(data, CHUNK_BYTES, MPI_BYTE, to, TAG, data + CHUNK_BYTES, CHUNK_BYTES, MPI_BYTE, from, TAG,
                                    leaders->comm, MPI_STATUS_IGNORE),
                       "MPI_Sendrecv");
    free(data);
}

static void read_counters(struct network *network) {
    read_devices(network->sysfs, &network->node.devices);
    subtract_devices(&network->node.devices, &network->before);
}

void probe_network(struct network *network, const struct world *world) {
    const struct timespec nap = {.tv_nsec = NAP_NS};
    const struct team *const leaders = &world->hosts->clocks;
    if (!network || leaders->ranks == 1)
        return;
    dissemination_barrier(leaders);
    read_devices(network->sysfs, &network->before);
    dissemination_barrier(leaders);
    send_round(leaders);
    dissemination_barrier(leaders);
    network->node.probe_bytes = PROBE_BYTES;
    network->probed = true;
    read_counters(network);
    for (int look = 0; look < LOOKS && !have_sent(&network->node.devices, PROBE_BYTES); look++) {
        give_progress(leaders);
        nanosleep(&nap, NULL);
        read_counters(network);
    }
}

static void write_next_node(void *context, int rank, const void *data) {
    (void)rank;
    if (context)
        write_node(context, data);
}

void close_network(struct network *network, const struct world *world, FILE *stream) {
    if (!network)
        return;
    if (!network->probed)
        read_counters(network);
    gather_ranks(&world->hosts->clocks, &network->node, sizeof network->node, write_next_node, stream);
    free(network);
}
