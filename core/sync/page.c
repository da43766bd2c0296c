#define _GNU_SOURCE
#include "sync/page.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/tree.h"

enum { PATH_BYTES = 64 };

/* The file has no name and disappears with the last rank that has it open. */
static int open_shared_file(const struct team *team, size_t bytes) {
    int place[2] = {getpid(), -1};
    char path[PATH_BYTES];
    if (team->rank == 0) {
        place[1] = memfd_create("rankbench", MFD_CLOEXEC);
        if (place[1] >= 0 && ftruncate(place[1], (off_t)bytes) != 0)
            place[1] = -1;
    }
    tree_broadcast(team, place, sizeof place);
    if (team->rank == 0 || place[1] < 0)
        return place[1];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", place[0], place[1]);
    return open(path, O_RDWR | O_CLOEXEC);
}

void *map_page(const struct team *team, size_t bytes) {
    const int file = open_shared_file(team, bytes);
    void *page = MAP_FAILED;
    if (file >= 0)
        page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    const bool shared = tree_agree(team, page != MAP_FAILED);
    /* Rank 0 keeps it open until all have mapped it. */
    if (file >= 0)
        close(file);
    if (!shared && page != MAP_FAILED)
        munmap(page, bytes);
    return shared ? page : NULL;
}

void unmap_page(void *page, size_t bytes) {
    if (page)
        munmap(page, bytes);
}
