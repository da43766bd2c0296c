/* Ends a launch whose ranks make no progress, and reports where. */
#ifndef RANKBENCH_WATCHDOG_H
#define RANKBENCH_WATCHDOG_H

struct request;

/* Starts watching a case; each of its phases, until `stop_watching`, may last `patience_s`. */
void watch_case(const struct request *request, int index, int rank, double patience_s);
/* A phase begins, or a further part of it. `phase` is a literal such as "is timed". */
void watch_phase(const char *phase);
/* A call returned an error here. If the others had it, too, they soon arrive to agree on it; otherwise they wait in
 * that call. */
void watch_error(const char *operation, int code);
void stop_watching(void);

#endif
