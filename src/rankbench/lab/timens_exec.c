/* timens_exec NS PROGRAM [ARGUMENT...]: runs a program in a time namespace of its own, whose monotonic clocks are NS nanoseconds
 * ahead of the system's. (The option of `unshare` takes whole seconds only.) */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fail(const char *what) {
    fprintf(stderr, "timens_exec: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* What is written is a number of seconds and a part of a second that is never negative. */
static void set_offset(int64_t offset_ns) {
    const int64_t second_ns = 1000000000;
    const int64_t part_ns = (offset_ns % second_ns + second_ns) % second_ns, s = (offset_ns - part_ns) / second_ns;
    FILE *offsets = fopen("/proc/self/timens_offsets", "w");
    if (!offsets)
        fail("/proc/self/timens_offsets");
    fprintf(offsets, "monotonic %" PRId64 " %" PRId64 "\nboottime %" PRId64 " %" PRId64 "\n", s, part_ns, s, part_ns);
    if (fclose(offsets) != 0)
        fail("an offset that would set the clock before its zero, or beyond its end");
}

/* After unshare only children would be in the new namespace; the process itself enters it too, so it keeps its id. */
static void enter(void) {
    const int space = open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWTIME) != 0)
        fail("time namespace cannot be entered");
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: timens_exec NS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    if (unshare(CLONE_NEWTIME) != 0)
        fail("no time namespace can be made");
    set_offset(strtoll(argv[1], NULL, 10));
    enter();
    execvp(argv[2], argv + 2);
    fail(argv[2]);
}
