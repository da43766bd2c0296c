/* Preloaded: every 5 ms a reading of the clock by the core is followed by 300 us without progress, as if the rank had
 * lost its CPU. Most readings happen while it waits for a window. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <time.h>

typedef int reader(clockid_t, struct timespec *);

static uintptr_t program_begin = UINTPTR_MAX, program_end;

/* The first object is the program; its segments show whether the core or the MPI library is the caller. */
static int find_program(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    (void)data;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD) {
            const uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            program_begin = begin < program_begin ? begin : program_begin;
            program_end = begin + object->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static int64_t read_ns(reader *read, clockid_t clock, struct timespec *now) {
    read(clock, now);
    return now->tv_sec * INT64_C(1000000000) + now->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static reader *real;
    static int64_t next;
    const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
    if (!real) {
        real = (reader *)dlsym(RTLD_NEXT, "clock_gettime");
        dl_iterate_phdr(find_program, NULL);
    }
    const int64_t before = read_ns(real, clock, now);
    if (caller < program_begin || caller >= program_end || before < next)
        return 0;
    next = before + 5000000;
    for (struct timespec later; read_ns(real, clock, &later) < before + 300000;)
        continue;
    return 0;
}
