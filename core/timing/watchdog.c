#define _XOPEN_SOURCE 700 /* Alarms, and calls that go on after one. */

/* An error on a single rank leaves the others in a call that does not return, and MPI offers no way out but to end the
 * job. The same holds for a call that never returns. An alarm, which costs nothing while ranks are timed, ends the
 * process with one line; the launcher then ends the other ranks, and the stream holds all results so far.
 *
 * The line has the share of the phase for which the process could have run and waited for a CPU: a call that gets no CPU
 * is no fault of the library.
 *
 * The alarm waits in parts. A process that is stopped and continued (a suspended job, SIGSTOP) loses one part at most,
 * so that the library is not blamed for the pause. */
#include "timing/watchdog.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/core.h"
#include "base/steady.h"
#include "request/request.h"

/* Time for ranks that share CPUs to report the same error. */
static const double FAILED_ALONE_S = 10;

static char case_text[LINE_BYTES], error_text[LINE_BYTES];
static const char *volatile phase_text = "";
static double patience_s;

enum { PARTS = 4 };
static volatile int parts_left;

static int64_t phase_began_ns, phase_waited_ns;

/* Time for which this process waited for a CPU so far; negative: unknown. Reads without stdio, for signal handlers. */
static int64_t read_waited_ns(void) {
    char text[96] = "";
    const int file = open("/proc/self/schedstat", O_RDONLY);
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    const char *const waited = length > 0 ? strchr(text, ' ') : NULL;
    return waited ? strtoll(waited, NULL, 10) : -1;
}

/* Whole percents of the phase spent waiting for a CPU; 0 where that is unknown. */
static int find_waited_percent(void) {
    const int64_t waited_ns = read_waited_ns() - phase_waited_ns, lasted_ns = read_steady_ns() - phase_began_ns;
    if (phase_waited_ns < 0 || waited_ns <= 0 || lasted_ns <= 0)
        return 0;
    return waited_ns >= lasted_ns ? 100 : (int)(100 * waited_ns / lasted_ns);
}

/* Appends to the line; returns its new end. */
static char *append(char *end, const char *last, const char *text) {
    while (*text && end < last)
        *end++ = *text++;
    return end;
}

/* Writes the line at once, so that lines of several ranks do not mix. */
static void end_process(void) {
    static char line[3 * LINE_BYTES];
    const char *const last = line + sizeof line - 1;
    char *end = append(append(append(line, last, case_text), last, phase_text), last, ": ");
    end = append(end, last, error_text[0] ? error_text : "a call does not return");
    const int percent = find_waited_percent();
    /* No `snprintf` in a signal handler. */
    const char digits[] = {(char)('0' + percent / 100), (char)('0' + percent / 10 % 10), (char)('0' + percent % 10), '\0'};
    end = append(append(append(end, last, "; without a CPU for "), last, digits), last, "%");
    *end++ = '\n';
    const ssize_t written = write(STDERR_FILENO, line, (size_t)(end - line));
    _exit(written < 0 ? EXIT_FAILURE : EXIT_STUCK);
}

static void expire(int number) {
    (void)number;
    if (--parts_left <= 0)
        end_process();
}

static void set_alarm(double seconds) {
    const double part = seconds / PARTS;
    const struct timeval time = {.tv_sec = (time_t)part, .tv_usec = (suseconds_t)(1e6 * (part - (double)(time_t)part))};
    const struct itimerval timer = {.it_interval = time, .it_value = time};
    parts_left = PARTS;
    setitimer(ITIMER_REAL, &timer, NULL);
}

void watch_case(const struct request *request, int index, int rank, double patience) {
    snprintf(case_text, sizeof case_text, "rankbench-core: stuck: rank %d, case %d (%s, %s, %lld bytes) ", rank, index,
             request->operation, request->form, (long long)request->bytes);
    error_text[0] = '\0';
    patience_s = patience;
    const struct sigaction action = {.sa_handler = expire, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    watch_phase("is set up");
}

void watch_phase(const char *phase) {
    phase_text = phase;
    phase_began_ns = read_steady_ns();
    phase_waited_ns = read_waited_ns();
    if (patience_s > 0 && !error_text[0])
        set_alarm(patience_s);
}

void watch_error(const char *operation, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    snprintf(error_text, sizeof error_text, "%s returned: %.*s", operation, (int)strcspn(text, "\n"), text);
    if (patience_s > 0)
        set_alarm(patience_s / 2 < FAILED_ALONE_S ? patience_s / 2 : FAILED_ALONE_S); /* Before the waiting ranks give up. */
}

void stop_watching(void) {
    set_alarm(0);
    patience_s = 0;
}
