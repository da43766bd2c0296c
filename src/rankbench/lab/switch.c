/* switch PORT... -- DELAY_NS...: an Ethernet switch whose links take their time, for kernels that have no netem.
 *
 * The delays are a matrix in reading order, one row for each port where a frame comes in, one column for each where it leaves.
 * A frame never leaves before its delay is over; how much later depends on the machine (some 10 us where it is quiet).
 * A port whose node goes down is looked for by its name until it is there again.
 * It says "ready" once it switches, and ends with its process. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PORTS = 256, MOST_STATIONS = 512, FRAME_BYTES = 70000, RECEIVE_BYTES = 8 << 20 };
enum { REAL_TIME = 10, LOOK_AGAIN_NS = 50000000 };

/* The kernel leaves large segments and checksums unfinished between virtual links; the header in front says so, and goes along. */
struct frame {
    struct frame *next;
    int64_t due_ns;
    int port;
    size_t bytes;
    char data[];
};

struct station {
    char address[ETH_ALEN];
    int port;
};

static struct pollfd ports[MOST_PORTS];
static char **names;
static bool lost[MOST_PORTS];
static int64_t delay_ns[MOST_PORTS][MOST_PORTS];
static int port_count;
static struct station stations[MOST_STATIONS];
static int station_count;
static struct frame *waiting;

static void fail(const char *what) {
    fprintf(stderr, "switch: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void set(int socket, int level, int option, int value, const char *name) {
    if (setsockopt(socket, level, option, &value, sizeof value) != 0)
        fail(name);
}

static bool attach(int port, const char *name) {
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    address.sll_ifindex = (int)if_nametoindex(name);
    return address.sll_ifindex != 0 && bind(port, (struct sockaddr *)&address, sizeof address) == 0;
}

static int open_port(const char *name) {
    const int port = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);
    if (port < 0)
        fail(name);
    set(port, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
    set(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING");
    set(port, SOL_SOCKET, SO_RCVBUF, RECEIVE_BYTES, "SO_RCVBUF");
    if (!attach(port, name))
        fail(name);
    return port;
}

/* Kept in the order in which frames are due; most come in in that order. */
static void enqueue(struct frame *frame) {
    struct frame **place = &waiting;
    while (*place && (*place)->due_ns <= frame->due_ns)
        place = &(*place)->next;
    frame->next = *place;
    *place = frame;
}

static void forward(const char *data, size_t bytes, int from, int to, int64_t arrival_ns) {
    struct frame *frame = malloc(sizeof *frame + bytes);
    if (!frame)
        fail("a frame");
    *frame = (struct frame){.due_ns = arrival_ns + delay_ns[from][to], .port = to, .bytes = bytes};
    memcpy(frame->data, data, bytes);
    enqueue(frame);
}

static struct station *find_station(const char *address) {
    for (int i = 0; i < station_count; i++)
        if (memcmp(stations[i].address, address, ETH_ALEN) == 0)
            return &stations[i];
    return NULL;
}

static void learn(const char *address, int port) {
    if (find_station(address) || station_count == MOST_STATIONS)
        return;
    memcpy(stations[station_count].address, address, ETH_ALEN);
    stations[station_count++].port = port;
}

/* To the port behind which the receiver is known to be, else to all but the sender's. */
static void take_in(const char *data, size_t bytes, int from) {
    const int64_t arrival_ns = now_ns();
    const char *ethernet = data + sizeof(struct virtio_net_hdr);
    learn(ethernet + ETH_ALEN, from);
    const struct station *receiver = find_station(ethernet);
    for (int to = 0; to < port_count; to++)
        if (to != from && (!receiver || receiver->port == to))
            forward(data, bytes, from, to, arrival_ns);
}

static void receive(int from) {
    static char data[FRAME_BYTES];
    for (;;) {
        const ssize_t bytes = recv(ports[from].fd, data, sizeof data, 0);
        lost[from] = lost[from] || (bytes < 0 && errno == ENETDOWN);
        if (bytes < (ssize_t)(sizeof(struct virtio_net_hdr) + ETH_HLEN))
            return;
        take_in(data, (size_t)bytes, from);
    }
}

static void send_due(void) {
    while (waiting && waiting->due_ns <= now_ns()) {
        struct frame *frame = waiting;
        waiting = frame->next;
        /* What a full queue refuses is lost, as in any switch. That a port is gone is reported once, to whoever asks first. */
        if (send(ports[frame->port].fd, frame->data, frame->bytes, 0) < 0 && (errno == ENETDOWN || errno == ENXIO))
            lost[frame->port] = true;
        free(frame);
    }
}

/* Returns whether none is left to look for. */
static bool find_lost_ports(void) {
    bool all = true;
    for (int port = 0; port < port_count; port++) {
        lost[port] = lost[port] && !attach(ports[port].fd, names[port]);
        all = all && !lost[port];
    }
    return all;
}

static void wait_for_something(void) {
    const int64_t longest_ns = find_lost_ports() ? INT64_MAX : LOOK_AGAIN_NS;
    const int64_t until_ns = waiting ? waiting->due_ns - now_ns() : longest_ns;
    const int64_t rest_ns = until_ns < 0 ? 0 : until_ns < longest_ns ? until_ns : longest_ns;
    const struct timespec rest = {.tv_sec = rest_ns / 1000000000, .tv_nsec = rest_ns % 1000000000};
    if (ppoll(ports, (nfds_t)port_count, &rest, NULL) < 0 && errno != EINTR)
        fail("ppoll");
}

/* It must not wait behind ranks that spin; where the system denies that, links are slower and no less right. */
static void hurry(void) {
    const struct sched_param priority = {.sched_priority = REAL_TIME};
    sched_setscheduler(0, SCHED_FIFO, &priority);
    prctl(PR_SET_TIMERSLACK, 1);
}

static void read_arguments(int argc, char **argv) {
    names = argv + 1;
    while (port_count + 1 < argc && port_count < MOST_PORTS && strcmp(argv[port_count + 1], "--") != 0) {
        ports[port_count] = (struct pollfd){.fd = open_port(argv[port_count + 1]), .events = POLLIN};
        port_count++;
    }
    if (argc != port_count + 2 + port_count * port_count) {
        fprintf(stderr, "usage: switch PORT... -- DELAY_NS... (as many as ports times ports, at most %d ports)\n", MOST_PORTS);
        exit(2);
    }
    for (int i = 0; i < port_count * port_count; i++)
        delay_ns[i / port_count][i % port_count] = strtoll(argv[port_count + 2 + i], NULL, 10);
}

int main(int argc, char **argv) {
    read_arguments(argc, argv);
    hurry();
    puts("ready");
    fflush(stdout);
    for (;;) {
        wait_for_something();
        for (int port = 0; port < port_count; port++)
            if (ports[port].revents)
                receive(port);
        send_due();
    }
}
