/* MPICH and its derivatives silently replace an algorithm that cannot serve a call, unless
 * MPIR_CVAR_COLLECTIVE_FALLBACK is `print`: then they print two lines per call. With `error` the call would fail, on
 * some ranks only, for which the others would wait. */
#define _GNU_SOURCE
#include "case/fallback.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/allocation.h"
#include "case/cvars.h"

static const char report[] = "User set collective algorithm is not usable";

/* `terminal`: copy of the descriptor of standard error; negative: not redirected. */
static struct redirection {
    int terminal, memory;
    struct cvars *cvars;
} redirection = {-1, -1, NULL};

static bool requests_algorithm(const char *settings) {
    if (strstr(settings, "_ALGORITHM="))
        return true;
    for (char **variable = environ; *variable; variable++)
        if (strncmp(*variable, "MPIR_CVAR_", 10) == 0 && strstr(*variable, "_ALGORITHM="))
            return true;
    return false;
}

/* Restores standard error and returns its redirected text, which the caller frees. */
static char *end_redirection(void) {
    fflush(stderr);
    dup2(redirection.terminal, STDERR_FILENO);
    const off_t end = lseek(redirection.memory, 0, SEEK_END);
    const size_t bytes = end > 0 ? (size_t)end : 0;
    char *text = obtain_memory(bytes + 1);
    const ssize_t length = pread(redirection.memory, text, bytes, 0);
    text[length > 0 ? length : 0] = '\0';
    close(redirection.memory);
    close(redirection.terminal);
    redirection.terminal = redirection.memory = -1;
    return text;
}

/* If the library ends the program within a call, its messages are printed. */
static void print_at_exit(void) {
    if (redirection.terminal < 0)
        return;
    char *text = end_redirection();
    fputs(text, stderr);
    free(text);
}

static void redirect(void) {
    static bool registered = false;
    if (!registered && atexit(print_at_exit) != 0)
        return;
    registered = true;
    fflush(stderr);
    redirection.memory = memfd_create("rankbench-stderr", MFD_CLOEXEC);
    redirection.terminal = redirection.memory < 0 ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (redirection.terminal >= 0)
        dup2(redirection.memory, STDERR_FILENO);
    else if (redirection.memory >= 0)
        close(redirection.memory);
}

void watch_fallback(const char *settings) {
    struct outcome outcome = {.severity = GOOD};
    if (!requests_algorithm(settings))
        return;
    redirection.cvars = set_cvars("MPIR_CVAR_COLLECTIVE_FALLBACK=print", &outcome);
    if (outcome.severity == GOOD)
        redirect();
}

void end_fallback_watch(struct outcome *outcome) {
    char *rest = NULL;
    bool detail = false;
    if (redirection.cvars)
        restore_cvars(redirection.cvars);
    redirection.cvars = NULL;
    if (redirection.terminal < 0)
        return;
    char *text = end_redirection();
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const bool head = strncmp(line, report, strlen(report)) == 0;
        if (head ? !*outcome->fallback : detail)
            snprintf(outcome->fallback, sizeof outcome->fallback, "%.*s", (int)sizeof outcome->fallback - 1, line);
        else if (!head)
            fprintf(stderr, "%s\n", line);
        detail = head;
    }
    free(text);
}
