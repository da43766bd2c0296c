/* The network devices of this node and how much has passed through them, as sysfs shows them. */
#ifndef RANKBENCH_DEVICES_H
#define RANKBENCH_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_DEVICES = 32, DEVICE_BYTES = 48 };

struct device {
    /* Such as eth0, mlx5_0, cxi0; of a further port mlx5_0:2. */
    char name[DEVICE_BYTES];
    /* Ethernet, InfiniBand, IP over InfiniBand, RoCE, iWARP, Omni-Path, EFA, Slingshot, loopback; other where none is known. */
    char kind[DEVICE_BYTES];
    /* active, or what the system says instead; empty: it does not say. */
    char state[DEVICE_BYTES];
    /* As the system writes it, such as 200 Gb/sec (4X HDR); empty: it does not say. */
    char rate[DEVICE_BYTES];
    /* Of the kernel; empty: the device is virtual. */
    char driver[DEVICE_BYTES];
    /* Since the system started; -1: not known. */
    int64_t sent_bytes, received_bytes;
};

struct devices {
    int count;
    struct device device[MOST_DEVICES];
};

/* Reads those below SYSFS/class: fast ones first, virtual ones last, which are left out where there are too many. */
void read_devices(const char *sysfs, struct devices *devices);
/* Turns counters into what has passed since `before`; -1 where it is not known, as after a counter that began again. */
void subtract_devices(struct devices *devices, const struct devices *before);
/* Whether devices other than a loopback have sent at least so much together. */
bool have_sent(const struct devices *devices, int64_t bytes);

#endif
