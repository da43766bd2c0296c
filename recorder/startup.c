/* Preloaded into each rank of a measured program: when MPI was initialised and finalised, and which library did it.
 *
 * Nothing links to MPI here, so that a shell or an interpreter that starts the program is not changed; what the program's
 * own library defines is found when the program runs. RANKBENCH_RECORD names the folder for the files, one for each rank.
 * Without it, or in a process that never initialises MPI, nothing happens. */
#define _GNU_SOURCE
#include "startup.h"
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, VERSION_BYTES = 256 };

/* `depth` counts nested calls: the wrappers of Fortran call those of C in some libraries. */
static struct {
    int depth, rank, ranks;
    int64_t began_ns, ended_ns;
    bool initialised, written;
    long process;
    char library[PATH_BYTES], version[VERSION_BYTES];
} run;

static int64_t read_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* dlsym finds names of this file, too. */
static bool is_own(void *address) {
    Dl_info here, there;
    return dladdr((void *)(intptr_t)find_next, &here) && dladdr(address, &there) && here.dli_fbase == there.dli_fbase;
}

struct search {
    const char *name;
    void *found;
};

static int search_object(struct dl_phdr_info *object, size_t size, void *data) {
    struct search *const search = data;
    void *const handle = object->dlpi_name[0] ? dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD) : 0;
    (void)size;
    if (!handle)
        return 0;
    search->found = dlsym(handle, search->name);
    dlclose(handle);
    return search->found && !is_own(search->found);
}

/* Modules of interpreters load the library for themselves only: it is not among those that all see. */
static void *search_objects(const char *name) {
    struct search search = {.name = name};
    return dl_iterate_phdr(search_object, &search) ? search.found : 0;
}

/* The function that would be called without this file. */
void *find_next(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        function = search_objects(name);
    if (!function) {
        fprintf(stderr, "rankbench: the program's MPI library has no %s\n", name);
        _exit(127);
    }
    return function;
}

/* Constants of Open MPI are addresses, of which the program may hold a copy: the first one found is used by all. */
void *find_constant(const char *name) {
    void *const address = dlsym(RTLD_DEFAULT, name);
    return address ? address : search_objects(name);
}

static MPI_Comm find_world(void) {
#ifdef OPEN_MPI
    return (MPI_Comm)find_constant("ompi_mpi_comm_world");
#else
    return MPI_COMM_WORLD;
#endif
}

/* Handles of Open MPI are addresses, those of others are numbers: this file was compiled for one of both. */
static bool is_expected_library(void) {
#ifdef OPEN_MPI
    return find_constant("ompi_mpi_comm_world");
#else
    return !find_constant("ompi_mpi_comm_world");
#endif
}

static void write_text(FILE *file, const char *key, const char *text) {
    fprintf(file, ",\n \"%s\": \"", key);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c >= ' ')
            fputc(*c, file);
        else
            fprintf(file, "\\u%04x", *c);
    fputs("\"", file);
}

/* The file appears complete or not at all. */
static void write_run(bool finalised) {
    const char *const folder = getenv("RANKBENCH_RECORD");
    char path[PATH_BYTES + 64], part[PATH_BYTES + 96];
    if (!folder || !run.initialised || run.written)
        return;
    run.written = run.ended_ns != 0;
    if (snprintf(path, sizeof path, "%s/rank-%d-%ld.json", folder, run.rank, (long)getpid()) >= PATH_BYTES)
        return;
    snprintf(part, sizeof part, "%s.part", path);
    FILE *const file = fopen(part, "w");
    if (!file) {
        fprintf(stderr, "rankbench: %s cannot be written\n", part);
        return;
    }
    fprintf(file, "{\"rank\": %d,\n \"ranks\": %d,\n \"seconds\": %.9f,\n \"finalised\": %s", run.rank, run.ranks,
            (double)(run.ended_ns - run.began_ns) / 1e9, finalised ? "true" : "false");
    write_text(file, "library", run.library);
    write_text(file, "version", run.version);
    fputs("}\n", file);
    if (fclose(file) == 0)
        rename(part, path);
}

/* Programs that end without MPI_Finalize, by `exit` or at the end of `main`; a child that was forked is none of them. */
static void end_early(void) {
    if (run.process != (long)getpid())
        return;
    if (end_calls)
        end_calls(false);
    if (run.ended_ns == 0)
        run.ended_ns = read_now();
    write_run(false);
}

/* Threads may call at the same time, as the library provides. */
static bool find_threads(void) {
    int provided = MPI_THREAD_SINGLE;
    ((__typeof__(&PMPI_Query_thread))(intptr_t)find_next("PMPI_Query_thread"))(&provided);
    return provided == MPI_THREAD_MULTIPLE;
}

/* The library may have been loaded after this file, so that its names are searched now. */
static void note_initialised(int code) {
    Dl_info place;
    int length = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    void *const find_rank = find_next("PMPI_Comm_rank");
    if (code != MPI_SUCCESS || run.initialised)
        return;
    const bool is_expected = is_expected_library();
    run.ranks = 1;
    if (is_expected) {
        const MPI_Comm world = find_world();
        ((__typeof__(&PMPI_Comm_rank))(intptr_t)find_rank)(world, &run.rank);
        ((__typeof__(&PMPI_Comm_size))(intptr_t)find_next("PMPI_Comm_size"))(world, &run.ranks);
    }
    ((__typeof__(&PMPI_Get_library_version))(intptr_t)find_next("PMPI_Get_library_version"))(version, &length);
    snprintf(run.version, sizeof run.version, "%.*s", VERSION_BYTES - 1, version);
    if (dladdr(find_rank, &place) && place.dli_fname)
        snprintf(run.library, sizeof run.library, "%s", place.dli_fname);
    run.initialised = true;
    run.process = (long)getpid();
    atexit(end_early);
    const char *const folder = getenv("RANKBENCH_RECORD");
    if (!is_expected && begin_calls) { /* No call could be passed on. */
        write_run(false);
        _exit(127);
    }
    char path[PATH_BYTES + 64];
    if (begin_calls && folder && snprintf(path, sizeof path, "%s/rank-%d-%ld.calls", folder, run.rank, run.process) < PATH_BYTES)
        begin_calls(path, &(struct started){run.rank, run.ranks, find_threads(), run.library, run.version});
    write_run(false); /* What is known of a rank that ends by `_exit`. */
    run.began_ns = read_now();
}

static void note_finalising(void) {
    if (run.ended_ns == 0)
        run.ended_ns = read_now();
    if (end_calls)
        end_calls(true);
    write_run(true);
}

/* --- the calls, from C and from each of Fortran's interfaces --- */

#define INITIALISES(name, parameters, arguments, code) \
    int name parameters { \
        int(*const next) parameters = (int(*) parameters)(intptr_t)find_next(#name); \
        run.depth++; \
        const int answer = next arguments; \
        if (--run.depth == 0) \
            note_initialised(code); \
        return answer; \
    }
#define FINALISES(name, parameters, arguments) \
    int name parameters { \
        int(*const next) parameters = (int(*) parameters)(intptr_t)find_next(#name); \
        note_finalising(); \
        return next arguments; \
    }

INITIALISES(MPI_Init, (int *argc, char ***argv), (argc, argv), answer)
INITIALISES(MPI_Init_thread, (int *argc, char ***argv, int required, int *provided), (argc, argv, required, provided), answer)
FINALISES(MPI_Finalize, (void), ())

/* Fortran: subroutines, whose error code is the last argument, which is optional in `mpi_f08`. */
INITIALISES(mpi_init_, (int *error), (error), error ? *error : 0)
INITIALISES(mpi_init_f08_, (int *error), (error), error ? *error : 0)
INITIALISES(mpi_init_thread_, (int *required, int *provided, int *error), (required, provided, error), error ? *error : 0)
INITIALISES(mpi_init_thread_f08_, (int *required, int *provided, int *error), (required, provided, error), error ? *error : 0)
FINALISES(mpi_finalize_, (int *error), (error))
FINALISES(mpi_finalize_f08_, (int *error), (error))

/* MPI_Abort ends a process by a signal or `_exit`. */
int MPI_Abort(MPI_Comm communicator, int code) {
    int (*const next)(MPI_Comm, int) = (int (*)(MPI_Comm, int))(intptr_t)find_next("MPI_Abort");
    end_early();
    return next(communicator, code);
}
#define ABORTS(name) \
    void name(int *communicator, int *code, int *error) { \
        void (*const next)(int *, int *, int *) = (void (*)(int *, int *, int *))(intptr_t)find_next(#name); \
        end_early(); \
        next(communicator, code, error); \
    }
ABORTS(mpi_abort_)
ABORTS(mpi_abort_f08_)
