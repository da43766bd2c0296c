/* The stream: all results as JSON, one record per line. */
#ifndef RANKBENCH_STREAM_H
#define RANKBENCH_STREAM_H

#include "output/result.h"
#include "sync/devices.h"
#include "sync/facts.h"
#include "sync/library_files.h"
#include "sync/turns.h"

struct evidence;

/* Messages and bytes of the core itself on a rank, and the memory of its process. */
struct talk {
    int64_t messages;
    int64_t bytes;
    int64_t memory_bytes;
};

/* A node and the counters of its network devices. */
struct node {
    char host[NAME_BYTES * 2];
    /* Bytes that its first rank sent to the next node while nothing else was sent; 0: the counters cover the launch. */
    int64_t probe_bytes;
    struct devices devices;
};

void write_launch(FILE *stream, const struct launch_fact *launch, const struct world *world);
void write_rank(FILE *stream, int rank, const struct rank_fact *fact);
void write_clock(FILE *stream, int rank, const struct source_fact *fact);
void write_library_file(FILE *stream, const struct library_file *file);
void write_node(FILE *stream, const struct node *node);
/* `hop_ns` was measured just before (hop_latency.h). */
void write_begin(FILE *stream, int index, double hop_ns, struct slot slot);
void write_evidence(FILE *stream, int index, const struct evidence *evidence);
void write_result(FILE *stream, int index, const struct request *request, const struct result *result);
void write_rank_series(FILE *stream, int rank, const struct sample *samples, const struct result *result);
void end_result(FILE *stream);
void write_end(FILE *stream, int cases, double hop_ns, const struct rest *rest, const struct talk *first,
               const struct talk *most);
void write_string(FILE *out, const char *text);
/* A column: its key and its value; of a number, so many decimals. */
void write_text(FILE *stream, const char *key, const char *text);
void write_whole(FILE *stream, const char *key, int64_t value);
void write_real(FILE *stream, const char *key, int decimals, double value);
void write_switch(FILE *stream, const char *key, bool on);
void end_record(FILE *stream);

#endif
