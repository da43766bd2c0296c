/* Loads the MPI library that its argument names, as interpreters do, and initialises it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

int main(int argc, char **argv) {
    if (argc < 2 || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
        return 2;
    int (*const begin)(int *, char ***) = (int (*)(int *, char ***))(intptr_t)dlsym(RTLD_DEFAULT, "MPI_Init");
    int (*const end)(void) = (int (*)(void))(intptr_t)dlsym(RTLD_DEFAULT, "MPI_Finalize");
    return begin(&argc, &argv) || end();
}
