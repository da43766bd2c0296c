/* The network devices of this node and their counters, from sysfs. */
#ifndef RANKBENCH_DEVICES_H
#define RANKBENCH_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

enum { MOST_DEVICES = 32, DEVICE_BYTES = 48 };

struct device {
    /* For example eth0, mlx5_0, cxi0; further ports as mlx5_0:2. */
    char name[DEVICE_BYTES];
    /* Ethernet, InfiniBand, IP over InfiniBand, RoCE, Omni-Path, EFA, Slingshot, loopback, or other. */
    char kind[DEVICE_BYTES];
    /* active, or the system's word; empty: unknown. */
    char state[DEVICE_BYTES];
    /* As the system reports it, for example 200 Gb/sec (4X HDR); empty: unknown. */
    char rate[DEVICE_BYTES];
    /* Kernel driver; empty: the device is virtual. */
    char driver[DEVICE_BYTES];
    /* Since the system started; -1: unknown. */
    int64_t sent_bytes, received_bytes;
};

struct devices {
    int count;
    struct device device[MOST_DEVICES];
};

/* Reads the devices below SYSFS/class: fast ones first, then virtual ones, up to MOST_DEVICES. */
void read_devices(const char *sysfs, struct devices *devices);
/* Replaces counters by their difference to `before`; -1 if unknown, for example after a reset. */
void subtract_devices(struct devices *devices, const struct devices *before);
/* Whether devices other than the loopback have sent at least these bytes in all. */
bool have_sent(const struct devices *devices, int64_t bytes);

#endif
