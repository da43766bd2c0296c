/* Counters and states: Documentation/ABI of the Linux kernel, testing/sysfs-class-net,
 * testing/sysfs-class-net-statistics, stable/sysfs-class-infiniband. Slingshot: telemetry of the driver below
 * /sys/class/cxi. */
#define _GNU_SOURCE
#include "sync/devices.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"

enum { PATH_BYTES = 768, MOST_NAMES = 128 };
/* Types of interfaces, from include/uapi/linux/if_arp.h. */
enum { TYPE_ETHERNET = 1, TYPE_INFINIBAND = 32, TYPE_LOOPBACK = 772 };

struct names {
    int count;
    char name[MOST_NAMES][DEVICE_BYTES];
};

static int compare_names(const void *a, const void *b) {
    return strverscmp(a, b);
}

static void list_names(const char *folder, struct names *names) {
    DIR *const open = opendir(folder);
    names->count = 0;
    for (const struct dirent *entry; open && names->count < MOST_NAMES && (entry = readdir(open));)
        if (entry->d_name[0] != '.' && strlen(entry->d_name) < DEVICE_BYTES)
            strcpy(names->name[names->count++], entry->d_name);
    if (open)
        closedir(open);
    qsort(names->name, (size_t)names->count, sizeof names->name[0], compare_names);
}

/* The first line of a file in a folder; empty if there is none. */
static void read_line(char line[DEVICE_BYTES], const char *folder, const char *name) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%.600s/%.120s", folder, name);
    line[0] = '\0';
    scan_file(path, "%47[^\n]", line);
}

/* The number at the start of a file; -1 if there is none, or a counter of 32 bits has reached its maximum. */
static int64_t read_number(const char *folder, const char *name) {
    char line[DEVICE_BYTES], *end;
    read_line(line, folder, name);
    const int64_t number = strtoll(line, &end, 10);
    return end == line || number < 0 || number == UINT32_MAX ? -1 : number;
}

static void read_driver(char driver[DEVICE_BYTES], const char *folder) {
    char path[PATH_BYTES], target[PATH_BYTES];
    snprintf(path, sizeof path, "%.600s/device/driver", folder);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    const char *const slash = strrchr(target, '/');
    snprintf(driver, DEVICE_BYTES, "%.40s", slash ? slash + 1 : target);
}

static struct device *add_device(struct devices *devices, const char *name, const char *kind) {
    if (devices->count == MOST_DEVICES)
        return NULL;
    struct device *const device = &devices->device[devices->count++];
    memset(device, 0, sizeof *device);
    snprintf(device->name, sizeof device->name, "%.*s", DEVICE_BYTES - 1, name);
    snprintf(device->kind, sizeof device->kind, "%.*s", DEVICE_BYTES - 1, kind);
    device->sent_bytes = device->received_bytes = -1;
    return device;
}

/* --- devices for remote memory access --------------------------------------------------------------------------------- */

static const char *find_port_kind(const char *driver, const char *layer) {
    if (strstr(driver, "hfi1") == driver)
        return "Omni-Path";
    if (strcmp(driver, "efa") == 0)
        return "EFA";
    if (strcmp(layer, "InfiniBand") == 0)
        return "InfiniBand";
    return strcmp(layer, "Ethernet") == 0 ? "RoCE" : "other";
}

/* `counters` are in units of four bytes; drivers without them have `hw_counters`. */
static void read_port_counters(struct device *device, const char *folder) {
    const int64_t sent = read_number(folder, "counters/port_xmit_data"), received = read_number(folder, "counters/port_rcv_data");
    device->sent_bytes = sent < 0 ? read_number(folder, "hw_counters/tx_bytes") : 4 * sent;
    device->received_bytes = received < 0 ? read_number(folder, "hw_counters/rx_bytes") : 4 * received;
}

/* The state is a number and a name: `4: ACTIVE`. */
static void read_port_state(struct device *device, const char *folder) {
    char line[DEVICE_BYTES];
    read_line(line, folder, "state");
    const char *const colon = strchr(line, ':');
    const char *const state = colon ? colon + 1 + strspn(colon + 1, " ") : line;
    snprintf(device->state, sizeof device->state, "%s", strcmp(state, "ACTIVE") == 0 ? "active" : state);
}

static void add_port(struct devices *devices, const char *folder, const char *name, const char *port) {
    char path[PATH_BYTES], driver[DEVICE_BYTES], layer[DEVICE_BYTES], title[2 * DEVICE_BYTES];
    snprintf(path, sizeof path, "%.400s/ports/%.40s", folder, port);
    read_driver(driver, folder);
    read_line(layer, path, "link_layer");
    const bool first = strcmp(port, "1") == 0;
    snprintf(title, sizeof title, "%.36s%s%.10s", name, first ? "" : ":", first ? "" : port);
    struct device *const device = add_device(devices, title, find_port_kind(driver, layer));
    if (!device)
        return;
    strcpy(device->driver, driver);
    read_port_state(device, path);
    read_line(device->rate, path, "rate");
    read_port_counters(device, path);
}

static void read_infiniband(const char *class, struct devices *devices) {
    char folder[PATH_BYTES];
    struct names names, ports;
    snprintf(folder, sizeof folder, "%.300s/infiniband", class);
    list_names(folder, &names);
    for (int i = 0; i < names.count; i++) {
        snprintf(folder, sizeof folder, "%.300s/infiniband/%s/ports", class, names.name[i]);
        list_names(folder, &ports);
        snprintf(folder, sizeof folder, "%.300s/infiniband/%s", class, names.name[i]);
        for (int port = 0; port < ports.count; port++)
            add_port(devices, folder, names.name[i], ports.name[port]);
    }
}

/* --- Slingshot -------------------------------------------------------------------------------------------------------- */

/* Not all versions of the driver report the state of the link; the network interface does. */
static void read_cxi_state(struct device *device, const char *folder) {
    char path[PATH_BYTES];
    struct names interfaces;
    snprintf(path, sizeof path, "%.400s/device/net", folder);
    list_names(path, &interfaces);
    if (interfaces.count == 0)
        return;
    snprintf(path, sizeof path, "%.400s/device/net/%s", folder, interfaces.name[0]);
    read_line(device->state, path, "operstate");
    if (strcmp(device->state, "up") == 0)
        strcpy(device->state, "active");
}

static void read_slingshot(const char *class, struct devices *devices) {
    char folder[PATH_BYTES];
    struct names names;
    snprintf(folder, sizeof folder, "%.300s/cxi", class);
    list_names(folder, &names);
    for (int i = 0; i < names.count; i++) {
        struct device *const device = add_device(devices, names.name[i], "Slingshot");
        if (!device)
            return;
        snprintf(folder, sizeof folder, "%.300s/cxi/%s", class, names.name[i]);
        read_driver(device->driver, folder);
        read_cxi_state(device, folder);
        read_line(device->rate, folder, "device/port/0/link/speed");
        /* Value and time of reading: 1234@1700000000.123456789. */
        device->sent_bytes = read_number(folder, "device/telemetry/hni_sts_tx_ok_octets");
        device->received_bytes = read_number(folder, "device/telemetry/hni_sts_rx_ok_octets");
    }
}

/* --- network interfaces ----------------------------------------------------------------------------------------------- */

static const char *find_interface_kind(int64_t type) {
    return type == TYPE_ETHERNET     ? "Ethernet"
           : type == TYPE_INFINIBAND ? "IP over InfiniBand"
           : type == TYPE_LOOPBACK   ? "loopback"
                                     : "other";
}

/* Adds an interface if it is `virtual` (a pair, bridge, tunnel or the loopback) or a device, as requested. Virtual ones
 * that are down are left out. */
static void add_interface(struct devices *devices, const char *folder, const char *name, bool virtual) {
    char driver[DEVICE_BYTES], state[DEVICE_BYTES];
    read_driver(driver, folder);
    read_line(state, folder, "operstate");
    if (virtual != (driver[0] == '\0') || (virtual && strcmp(state, "down") == 0))
        return;
    struct device *const device = add_device(devices, name, find_interface_kind(read_number(folder, "type")));
    if (!device)
        return;
    strcpy(device->driver, driver);
    strcpy(device->state, strcmp(state, "up") == 0 || strcmp(device->kind, "loopback") == 0 ? "active" : state);
    const int64_t megabits = read_number(folder, "speed");
    if (megabits > 0)
        snprintf(device->rate, sizeof device->rate, "%.4g Gb/s", (double)megabits / 1000);
    device->sent_bytes = read_number(folder, "statistics/tx_bytes");
    device->received_bytes = read_number(folder, "statistics/rx_bytes");
}

static void read_interfaces(const char *class, struct devices *devices, bool virtual) {
    char folder[PATH_BYTES];
    struct names names;
    snprintf(folder, sizeof folder, "%.300s/net", class);
    list_names(folder, &names);
    for (int i = 0; i < names.count; i++) {
        snprintf(folder, sizeof folder, "%.300s/net/%s", class, names.name[i]);
        add_interface(devices, folder, names.name[i], virtual);
    }
}

void read_devices(const char *sysfs, struct devices *devices) {
    char class[PATH_BYTES];
    snprintf(class, sizeof class, "%.300s/class", sysfs);
    devices->count = 0;
    read_infiniband(class, devices);
    read_slingshot(class, devices);
    read_interfaces(class, devices, false);
    read_interfaces(class, devices, true);
}

/* --- counters ----------------------------------------------------------------------------------------------------------*/

static int64_t subtract(int64_t before, int64_t after) {
    return before < 0 || after < before ? -1 : after - before;
}

void subtract_devices(struct devices *devices, const struct devices *before) {
    static const struct device none = {.sent_bytes = -1, .received_bytes = -1};
    for (int i = 0; i < devices->count; i++) {
        struct device *const device = &devices->device[i];
        const struct device *then = &none;
        for (int j = 0; j < before->count; j++)
            if (strcmp(before->device[j].name, device->name) == 0 && strcmp(before->device[j].kind, device->kind) == 0)
                then = &before->device[j];
        device->sent_bytes = subtract(then->sent_bytes, device->sent_bytes);
        device->received_bytes = subtract(then->received_bytes, device->received_bytes);
    }
}

bool have_sent(const struct devices *devices, int64_t bytes) {
    int64_t sent_bytes = 0;
    for (int i = 0; i < devices->count; i++)
        if (strcmp(devices->device[i].kind, "loopback") != 0 && devices->device[i].sent_bytes > 0)
            sent_bytes += devices->device[i].sent_bytes;
    return sent_bytes >= bytes;
}
