/* Preloaded: adds whole-numbered control variables v0, v1 ... to those of the library (MPI_T), each 100 at first. Like a
 * library that works in steps of its own, it takes the next lower even number of what is written, without an error. At
 * the end rank 0 prints how many variables differ from 100, and how many handles were not freed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "rank.h"

enum { VARIABLES = 40, AT_FIRST = 100 };

static int values[VARIABLES], handles, known;

#define FIND_REAL(call) \
    static __typeof__(&call) real; \
    if (!real) \
    real = (__typeof__(&call))dlsym(RTLD_NEXT, #call)

/* The variable of a handle; NULL: the handle is the library's. */
static int *find_value(MPI_T_cvar_handle handle) {
    int *const value = (int *)handle;
    return value >= values && value < values + VARIABLES ? value : NULL;
}

int MPI_T_init_thread(int wanted, int *provided) {
    FIND_REAL(MPI_T_init_thread);
    for (int i = 0; i < VARIABLES; i++)
        values[i] = AT_FIRST;
    return real(wanted, provided);
}

int MPI_T_cvar_get_num(int *count) {
    FIND_REAL(MPI_T_cvar_get_num);
    const int code = real(count);
    known = *count;
    *count += VARIABLES;
    return code;
}

int MPI_T_cvar_get_info(int index, char *name, int *name_bytes, int *verbosity, MPI_Datatype *type, MPI_T_enum *names,
                        char *description, int *description_bytes, int *bind, int *scope) {
    FIND_REAL(MPI_T_cvar_get_info);
    if (index < known)
        return real(index, name, name_bytes, verbosity, type, names, description, description_bytes, bind, scope);
    snprintf(name, (size_t)*name_bytes, "v%d", index - known);
    snprintf(description, (size_t)*description_bytes, "a number");
    *verbosity = MPI_T_VERBOSITY_USER_BASIC;
    *type = MPI_INT;
    *names = MPI_T_ENUM_NULL;
    *bind = MPI_T_BIND_NO_OBJECT;
    *scope = MPI_T_SCOPE_LOCAL;
    return MPI_SUCCESS;
}

int MPI_T_cvar_handle_alloc(int index, void *object, MPI_T_cvar_handle *handle, int *count) {
    FIND_REAL(MPI_T_cvar_handle_alloc);
    if (index < known)
        return real(index, object, handle, count);
    handles++;
    *handle = (MPI_T_cvar_handle)&values[index - known];
    *count = 1;
    return MPI_SUCCESS;
}

int MPI_T_cvar_handle_free(MPI_T_cvar_handle *handle) {
    FIND_REAL(MPI_T_cvar_handle_free);
    if (!find_value(*handle))
        return real(handle);
    handles--;
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int MPI_T_cvar_read(MPI_T_cvar_handle handle, void *into) {
    FIND_REAL(MPI_T_cvar_read);
    if (!find_value(handle))
        return real(handle, into);
    memcpy(into, find_value(handle), sizeof(int));
    return MPI_SUCCESS;
}

int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void *from) {
    FIND_REAL(MPI_T_cvar_write);
    if (!find_value(handle))
        return real(handle, from);
    memcpy(find_value(handle), from, sizeof(int));
    *find_value(handle) &= ~1;
    return MPI_SUCCESS;
}

int MPI_Finalize(void) {
    int changed = 0;
    for (int i = 0; i < VARIABLES; i++)
        changed += values[i] != AT_FIRST;
    if (read_launch_rank() == 0)
        printf("variables: %d changed, %d handles\n", changed, handles);
    FIND_REAL(MPI_Finalize);
    return real();
}
