#define _GNU_SOURCE
#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST_TEXT = 128 };

/* Returns the begin of field `number` of a file of numbers, the first one being 0; NULL: there is none. */
static const char *read_field(const char *path, int number, char text[MOST_TEXT]) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, MOST_TEXT - 1);
    if (file >= 0)
        close(file);
    if (length <= 0)
        return NULL;
    text[length] = '\0';
    const char *field = text;
    for (int i = 0; i < number && field; i++)
        field = (field = strchr(field, ' ')) ? field + 1 : NULL;
    return field;
}

int64_t read_waited_ns(void) {
    char text[MOST_TEXT];
    const char *const waited = read_field("/proc/self/schedstat", 1, text);
    return waited ? strtoll(waited, NULL, 10) : -1;
}

int64_t read_own_bytes(void) {
    char text[MOST_TEXT];
    const char *const resident = read_field("/proc/self/statm", 1, text);
    if (!resident)
        return -1;
    char *end;
    const int64_t pages = strtoll(resident, &end, 10);
    return (pages - strtoll(end, NULL, 10)) * sysconf(_SC_PAGESIZE);
}

static pid_t parent;

/* The signal is sent too when only the thread of the parent ends that started this process. */
static void end_orphan(int number) {
    (void)number;
    if (getppid() != parent)
        _exit(1);
}

void end_with_parent(void) {
    parent = getppid();
    if (parent == 1)
        return;
    signal(SIGRTMAX, end_orphan);
    prctl(PR_SET_PDEATHSIG, SIGRTMAX);
    end_orphan(SIGRTMAX);
}
