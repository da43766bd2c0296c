/* The files that the library of this process consists of, by content. */
#ifndef RANKBENCH_LIBRARY_FILES_H
#define RANKBENCH_LIBRARY_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/core.h"
#include "base/sha256.h"

struct library_file {
    char path[LINE_BYTES * 2];
    int64_t bytes;
    int64_t modified_ns;
    int64_t inode;
    /* Whether it is mapped into this process, and whether the list names it. */
    bool mapped, listed;
    /* Whether another file has taken its place since it was mapped. */
    bool replaced;
    /* Empty: it was replaced or cannot be read. */
    char sha256[SHA256_TEXT];
};

/* Calls `use` for each mapped program file but the program itself, and for each file that a list names. It has lines
 * `file PATTERN`, in which ~ is the home, and `known SHA256 BYTES MODIFIED_NS INODE PATH` for what was computed before;
 * new ones are added. Files that cannot be read are no errors. */
void each_library_file(const char *path, void (*use)(void *context, const struct library_file *file), void *context);

#endif
