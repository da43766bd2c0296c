/* Preloaded into each rank of a measured program: when MPI was initialised and finalised, and which library did it.
 *
 * Nothing links to MPI here, so that a shell or an interpreter that starts the program is not changed; what the program's
 * own library defines is found when the program runs. RANKBENCH_RECORD names the folder for the files, one for each rank.
 * Without it, or in a process that never initialises MPI, nothing happens. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Get_library_version
#pragma weak ompi_mpi_comm_world

enum { PATH_BYTES = 4096, VERSION_BYTES = 256 };

/* `depth` counts nested calls: the wrappers of Fortran call those of C in some libraries. */
static struct {
    int depth, rank, ranks;
    int64_t began_ns, ended_ns;
    bool initialised, written;
    char library[PATH_BYTES], version[VERSION_BYTES];
} run;

static int64_t read_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The function that would be called without this file. */
static void *find_next(const char *name) {
    void *const function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "rankbench: the program's MPI library has no %s\n", name);
        _exit(127);
    }
    return function;
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
    run.written = true;
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

/* Programs that end without MPI_Finalize, by `exit` or at the end of `main`. */
static void end_early(void) {
    if (run.ended_ns == 0)
        run.ended_ns = read_ns();
    write_run(false);
}

static void note_initialised(int code) {
    Dl_info place;
    int length = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    if (code != MPI_SUCCESS || run.initialised)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
    PMPI_Get_library_version(version, &length);
    snprintf(run.version, sizeof run.version, "%.*s", VERSION_BYTES - 1, version);
    if (dladdr((void *)(intptr_t)PMPI_Comm_rank, &place) && place.dli_fname)
        snprintf(run.library, sizeof run.library, "%s", place.dli_fname);
    run.initialised = true;
    atexit(end_early);
    run.began_ns = read_ns();
}

static void note_finalising(void) {
    if (run.ended_ns == 0)
        run.ended_ns = read_ns();
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
