/* For LD_PRELOAD: a file system without locks, as Lustre is without the mount option flock. */
#include <errno.h>
#include <sys/file.h>

int flock(int file, int operation) {
    (void)file;
    (void)operation;
    errno = ENOSYS;
    return -1;
}
