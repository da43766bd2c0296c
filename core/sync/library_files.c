/* Two builds of one version differ in nothing but their content. What is mapped says which files were loaded; what a
 * library reads and closes again, such as its configuration, must be listed.
 *
 * Hashes are computed once as long as path, size, time and inode are the same: the list holds them for the launches that
 * follow. All of this ends before the first case begins. */
#define _GNU_SOURCE
#include "sync/library_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocation.h"

enum { PART_BYTES = 1 << 16, NANO = 1000000000 };

struct files {
    struct library_file *file;
    int count;
};

static struct library_file *add_file(struct files *files, const char *path) {
    for (int i = 0; i < files->count; i++)
        if (strcmp(files->file[i].path, path) == 0)
            return &files->file[i];
    files->file = extend_memory(files->file, sizeof *files->file * (size_t)(files->count + 1));
    struct library_file *const file = &files->file[files->count++];
    memset(file, 0, sizeof *file);
    snprintf(file->path, sizeof file->path, "%s", path);
    return file;
}

/* --- which files --- */

static void add_mapped(struct files *files) {
    static const char mark[] = " (deleted)";
    char line[LINE_BYTES * 2], program[LINE_BYTES * 2] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        *program = '\0';
    while (maps && fgets(line, sizeof line, maps)) {
        char mode[8];
        int start = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "%*s %7s %*s %*s %*s %n", mode, &start) != 1 || mode[2] != 'x' || line[start] != '/')
            continue;
        const size_t length = strlen(line + start), end = length - (sizeof mark - 1);
        const bool replaced = length > sizeof mark && strcmp(line + start + end, mark) == 0;
        if (replaced)
            line[(size_t)start + end] = '\0';
        if (strcmp(line + start, program) == 0)
            continue;
        struct library_file *const file = add_file(files, line + start);
        file->mapped = true;
        file->replaced |= replaced;
    }
    if (maps)
        fclose(maps);
}

static void add_matching(struct files *files, const char *pattern) {
    glob_t matches;
    struct stat facts;
    if (glob(pattern, GLOB_TILDE, NULL, &matches) == 0)
        for (size_t i = 0; i < matches.gl_pathc; i++)
            if (stat(matches.gl_pathv[i], &facts) == 0 && S_ISREG(facts.st_mode))
                add_file(files, matches.gl_pathv[i])->listed = true;
    globfree(&matches);
}

static void add_listed(struct files *files, char *text) {
    static const char word[] = "file ";
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
        if (strncmp(line, word, sizeof word - 1) == 0) {
            *end = '\0';
            add_matching(files, line + sizeof word - 1);
            *end = '\n';
        }
}

/* --- their content --- */

static bool find_known(const char *text, struct library_file *file) {
    char facts[LINE_BYTES * 3];
    snprintf(facts, sizeof facts, " %" PRId64 " %" PRId64 " %" PRId64 " %s\n", file->bytes, file->modified_ns, file->inode,
             file->path);
    const char *const end = strstr(text, facts);
    if (!end || end - text < SHA256_TEXT - 1)
        return false;
    memcpy(file->sha256, end - (SHA256_TEXT - 1), SHA256_TEXT - 1);
    return true;
}

static bool compute_hash(struct library_file *file, int handle) {
    unsigned char *const part = obtain_memory(PART_BYTES);
    struct sha256 sum = begin_sha256();
    ssize_t bytes;
    while ((bytes = read(handle, part, PART_BYTES)) > 0)
        add_sha256(&sum, part, (size_t)bytes);
    if (bytes == 0)
        end_sha256(&sum, file->sha256);
    free(part);
    return bytes == 0;
}

/* In one write, so that launches at the same time may share a list. Without one, it is computed again. */
static void remember(int list, const struct library_file *file) {
    char line[LINE_BYTES * 3];
    const int length = snprintf(line, sizeof line, "known %s %" PRId64 " %" PRId64 " %" PRId64 " %s\n", file->sha256, file->bytes,
                                file->modified_ns, file->inode, file->path);
    if (list >= 0 && write(list, line, (size_t)length) != length)
        errno = 0;
}

static void read_content(struct library_file *file, const char *text, int list) {
    struct stat facts;
    const int handle = open(file->path, O_RDONLY | O_CLOEXEC);
    if (handle >= 0 && fstat(handle, &facts) == 0 && !file->replaced) {
        file->bytes = facts.st_size;
        file->modified_ns = (int64_t)facts.st_mtim.tv_sec * NANO + facts.st_mtim.tv_nsec;
        file->inode = (int64_t)facts.st_ino;
        if (!find_known(text, file) && compute_hash(file, handle))
            remember(list, file);
    }
    if (handle >= 0)
        close(handle);
}

static char *read_list(int list) {
    struct stat facts;
    const bool known = list >= 0 && fstat(list, &facts) == 0;
    char *const text = obtain_memory(known ? (size_t)facts.st_size + 1 : 1);
    const ssize_t bytes = known ? pread(list, text, (size_t)facts.st_size, 0) : 0;
    text[bytes > 0 ? bytes : 0] = '\0';
    return text;
}

void each_library_file(const char *path, void (*use)(void *context, const struct library_file *file), void *context) {
    const int list = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    char *const text = read_list(list);
    struct files files = {0};
    add_mapped(&files);
    add_listed(&files, text);
    for (int i = 0; i < files.count; i++) {
        read_content(&files.file[i], text, list);
        use(context, &files.file[i]);
    }
    if (list >= 0)
        close(list);
    free(files.file);
    free(text);
}
