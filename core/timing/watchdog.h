/* watchdog.c: ends a launch whose ranks no longer get on with each other, and says where. */
#ifndef RANKBENCH_WATCHDOG_H
#define RANKBENCH_WATCHDOG_H

struct request;

/* A case begins; every phase of it, until `stop_watching`, may last so many seconds. */
void watch_case(const struct request *request, int index, int rank, double patience_s);
/* A phase begins, or another part of it as long. `phase` outlives the case: "is timed". */
void watch_phase(const char *phase);
/* A call returned an error here. If the others had one, too, they are soon there to agree on it; else they wait in that call. */
void watch_error(const char *operation, int code);
void stop_watching(void);

#endif
