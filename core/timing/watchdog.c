#define _GNU_SOURCE /* Timers, and calls that go on after a signal. */

/* An error on a single rank leaves the others in a call that does not return, and MPI offers no way out but to end the
 * job. The same holds for a call that never returns. A timer, which costs nothing while ranks are timed, ends the
 * process with one line; the launcher then ends the other ranks, and the stream holds all results so far.
 *
 * The line has the share of the phase for which the process could have run and waited for a CPU: a call that gets no CPU
 * is no fault of the library.
 *
 * SIGALRM and its timer are left to the library, which may use or ignore them: the signal is a real-time one that nothing
 * else handles. Only the system call makes such a timer in every libc without another library.
 *
 * The timer waits in parts. A process that is stopped and continued (a suspended job, SIGSTOP) loses one part at most,
 * so that the library is not blamed for the pause. */
#include "timing/watchdog.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/core.h"
#include "base/process.h"
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
/* The kernel's number of the timer. */
static int timer;
static bool has_timer;

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

/* Returns the highest real-time signal that has no handler. */
static int find_free_signal(void) {
    struct sigaction action;
    int number = SIGRTMAX;
    while (number > SIGRTMIN && (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL))
        number--;
    return number;
}

static void make_timer(void) {
    const struct sigaction action = {.sa_handler = expire, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL};
    event.sigev_signo = find_free_signal();
    sigaction(event.sigev_signo, &action, NULL);
    has_timer = syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0;
}

static void set_timer(double seconds) {
    const double part = seconds / PARTS;
    const struct timespec time = {.tv_sec = (time_t)part, .tv_nsec = (long)(1e9 * (part - (double)(time_t)part))};
    const struct itimerspec setting = {.it_interval = time, .it_value = time};
    parts_left = PARTS;
    if (has_timer)
        syscall(SYS_timer_settime, timer, 0, &setting, NULL);
}

void watch_case(const struct request *request, int index, int rank, double patience) {
    snprintf(case_text, sizeof case_text, "rankbench-core: stuck: rank %d, case %d (%s, %s, %lld bytes) ", rank, index,
             request->operation, request->form, (long long)request->bytes);
    error_text[0] = '\0';
    patience_s = patience;
    if (!has_timer)
        make_timer();
    watch_phase("is set up");
}

void watch_phase(const char *phase) {
    phase_text = phase;
    phase_began_ns = read_steady_ns();
    phase_waited_ns = read_waited_ns();
    if (patience_s > 0 && !error_text[0])
        set_timer(patience_s);
}

void watch_error(const char *operation, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    snprintf(error_text, sizeof error_text, "%s returned: %.*s", operation, (int)strcspn(text, "\n"), text);
    if (patience_s > 0)
        set_timer(patience_s / 2 < FAILED_ALONE_S ? patience_s / 2 : FAILED_ALONE_S); /* Before the waiting ranks give up. */
}

void stop_watching(void) {
    set_timer(0);
    patience_s = 0;
}
