/* An error that one rank alone gets leaves the others in a call that will not return, and MPI has no way out of it but the end
 * of all. The same goes for a call that never returns. An alarm, which costs nothing while ranks are timed, ends the process
 * with one line; the launcher then ends the other ranks, and the stream holds all that came before. */
#include "watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "core.h"

/* Long enough for ranks that share CPUs to come and say that they had an error, too. */
static const double FAILED_ALONE_S = 10;

static char which[LINE_BYTES], failed[LINE_BYTES];
static const char *volatile current = "";
static double patience_s;

static void say(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* There is nobody left to tell. */
}

static void expire(int number) {
    (void)number;
    say(which);
    say(current);
    say(": ");
    say(failed[0] ? failed : "a call does not return");
    say("\n");
    _exit(EXIT_STUCK);
}

static void alarm_in(double seconds) {
    const struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds, .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

void watch_case(const struct wanted *wanted, int index, int rank, double patience) {
    snprintf(which, sizeof which, "rankbench-core: stuck: rank %d, case %d (%s, %s, %lld bytes) ", rank, index, wanted->operation,
             wanted->form, (long long)wanted->bytes);
    failed[0] = '\0';
    patience_s = patience;
    signal(SIGALRM, expire);
    watch_phase("is set up");
}

void watch_phase(const char *phase) {
    current = phase;
    if (patience_s > 0)
        alarm_in(patience_s);
}

void watch_failed(const char *operation, int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    snprintf(failed, sizeof failed, "%s returned: %.*s", operation, (int)strcspn(text, "\n"), text);
    if (patience_s > 0)
        alarm_in(patience_s < FAILED_ALONE_S ? patience_s : FAILED_ALONE_S);
}

void unwatch(void) {
    alarm_in(0);
    patience_s = 0;
}
