/* Open MPI chooses a component for each collective when a communicator is created, but reports only the list of
 * components. The choice is in a table of functions that the communicator points to:
 *
 *   ompi_mpi_comm_world { ... c_coll ... }  ->  { function, module, function, module ... }
 *
 * The place of the pointer depends on the version. So every pointer in the communicator is followed, and the table with
 * the most addresses of exported functions named ..._coll_... is the one. Memory is read by the kernel, which refuses
 * invalid addresses. */
#define _GNU_SOURCE
#include "study/dispatch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/stream.h"

enum { MOST_FUNCTIONS = 256, MOST_WORLD_BYTES = 4096, TABLE_WORDS = 512, LEAST_FUNCTIONS = 8 };

struct functions {
    int count;
    const char *name[MOST_FUNCTIONS];
};

static ssize_t read_memory(int memory, uintptr_t from, void *into, size_t bytes) {
    return from > INT64_MAX - bytes ? -1 : pread(memory, into, bytes, (off_t)from);
}

/* The name of a component's function at an address; NULL: there is none. */
static const char *find_function(uintptr_t address) {
    Dl_info info;
    if (address == 0 || dladdr((void *)address, &info) == 0 || (uintptr_t)info.dli_saddr != address || !info.dli_sname)
        return NULL;
    return strstr(info.dli_sname, "_coll_") ? info.dli_sname : NULL;
}

static void read_table(int memory, uintptr_t table, struct functions *functions) {
    uintptr_t words[TABLE_WORDS];
    const ssize_t bytes = read_memory(memory, table, words, sizeof words);
    functions->count = 0;
    for (int i = 0; i < (int)(bytes / (ssize_t)sizeof *words) && functions->count < MOST_FUNCTIONS; i++) {
        const char *const name = find_function(words[i]);
        if (name)
            functions->name[functions->count++] = name;
    }
}

/* The size of the communicator is that of its symbol. */
static size_t find_world(const void **world) {
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    *world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    if (!*world || dladdr1(*world, &info, (void **)&symbol, RTLD_DL_SYMENT) == 0 || !symbol)
        return 0;
    return symbol->st_size < MOST_WORLD_BYTES ? symbol->st_size : MOST_WORLD_BYTES;
}

static void find_functions(int memory, struct functions *most) {
    const void *world;
    struct functions functions;
    const size_t bytes = find_world(&world);
    for (size_t at = 0; at + sizeof(uintptr_t) <= bytes; at += sizeof(uintptr_t)) {
        uintptr_t table;
        memcpy(&table, (const char *)world + at, sizeof table);
        read_table(memory, table, &functions);
        if (functions.count > most->count)
            *most = functions;
    }
}

void write_functions(FILE *stream) {
    struct functions functions = {0};
    const int memory = open("/proc/self/mem", O_RDONLY);
    if (memory < 0)
        return;
    find_functions(memory, &functions);
    close(memory);
    if (functions.count < LEAST_FUNCTIONS)
        return;
    fputs("{\"record\":\"functions\",\"names\":[", stream);
    for (int i = 0; i < functions.count; i++) {
        fputs(i ? "," : "", stream);
        write_string(stream, functions.name[i]);
    }
    fputc(']', stream);
    end_record(stream);
}
