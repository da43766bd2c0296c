/* The stream: JSON, one record per line, flushed after each, so that complete records can be read however the launch
 * ends. */
#define _GNU_SOURCE
#include "output/stream.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/choices.h"
#include "base/core.h"
#include "base/float_mode.h"
#include "base/registry.h"
#include "base/startup.h"
#include "base/time_parts.h"
#include "kit/memory.h"
#include "output/result.h"
#include "request/request.h"
#include "sync/clock.h"
#include "sync/facts.h"
#include "sync/library_files.h"
#include "sync/source.h"
#include "sync/world.h"
#include "timing/measurement.h"
#include "verify/evidence.h"

void write_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < 0x20 || *c >= 0x7f)
            fprintf(out, "\\u%04x", *c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

void write_text(FILE *stream, const char *key, const char *text) {
    fprintf(stream, ",\"%s\":", key);
    write_string(stream, text);
}

void write_whole(FILE *stream, const char *key, int64_t value) {
    fprintf(stream, ",\"%s\":%lld", key, (long long)value);
}

void write_real(FILE *stream, const char *key, int decimals, double value) {
    fprintf(stream, ",\"%s\":%.*f", key, decimals, value);
}

void write_switch(FILE *stream, const char *key, bool on) {
    fprintf(stream, ",\"%s\":%s", key, on ? "true" : "false");
}

/* The launcher ends all ranks at once, and must have received the line before. */
static void abort_launch(const char *what, const char *why, int code) {
    const struct timespec nap = {.tv_nsec = 200000000};
    fprintf(stderr, "rankbench-core: the stream %s (%s)\n", what, why);
    nanosleep(&nap, NULL);
    MPI_Abort(MPI_COMM_WORLD, code);
}

/* Whether the stream's descriptor still is that of its file: a library may close files that it has not opened, and its
 * next file then gets the same descriptor. */
static bool is_own_file(FILE *stream) {
    static struct stat first;
    struct stat now;
    if (fstat(fileno(stream), &now) != 0)
        return false;
    if (first.st_ino == 0)
        first = now;
    return first.st_ino == now.st_ino && first.st_dev == now.st_dev;
}

void end_record(FILE *stream) {
    fputs("}\n", stream);
    if (!is_own_file(stream))
        abort_launch("was closed", "by the library", EXIT_MPI);
    if (fflush(stream) != 0 || ferror(stream))
        abort_launch("cannot be written", strerror(errno), EXIT_STREAM);
}

static void write_source_fact(FILE *stream, const struct source_fact *fact) {
    write_switch(stream, "usable", fact->usable);
    write_text(stream, "reason", fact->reason);
    write_whole(stream, "resolution_ns", fact->resolution_ns);
    write_real(stream, "cost_ns", 1, fact->cost_ns);
}

static void write_sources(FILE *stream, const struct source_fact *sources) {
    fputs(",\"sources\":[", stream);
    for (int i = 0; i < count_sources(); i++) {
        fprintf(stream, "%s{\"name\":\"%s\"", i ? "," : "", sources[i].name);
        write_source_fact(stream, &sources[i]);
        fputc('}', stream);
    }
    fputc(']', stream);
}

void write_clock(FILE *stream, int rank, const struct source_fact *fact) {
    fputs("{\"record\":\"clock\"", stream);
    write_text(stream, "source", fact->name);
    write_whole(stream, "rank", rank);
    write_source_fact(stream, fact);
    end_record(stream);
}

void write_launch(FILE *stream, const struct launch_fact *launch, const struct world *world) {
    const struct source_fact *source = find_source_fact(world->sources, world->source->name);
    char mode[FLOAT_MODE_BYTES], version[NAME_BYTES];
    snprintf(version, sizeof version, "%d.%d", launch->mpi_version, launch->mpi_subversion);
    describe_startup_mode(mode);
    fputs("{\"record\":\"launch\",\"format\":1", stream);
    write_whole(stream, "ranks", world->all.ranks);
    write_text(stream, "library_version", launch->library);
    write_text(stream, "mpi_version", version);
    write_text(stream, "core", CORE_VERSION);
    write_text(stream, "source", world->source->name);
    write_text(stream, "source_reason", world->why);
    write_whole(stream, "resolution_ns", source->resolution_ns);
    write_real(stream, "cost_ns", 1, source->cost_ns);
    write_text(stream, "synchronisation", world->synchronisation->name);
    write_whole(stream, "last_level_cache_bytes", launch->last_level_cache_bytes);
    write_text(stream, "float_mode", mode);
    write_sources(stream, world->sources);
    end_record(stream);
}

void write_rank(FILE *stream, int rank, const struct rank_fact *fact) {
    fputs("{\"record\":\"rank\"", stream);
    write_whole(stream, "rank", rank);
    write_text(stream, "host", fact->host);
    write_whole(stream, "cpu", fact->cpu);
    write_whole(stream, "core", fact->core);
    write_whole(stream, "socket", fact->socket);
    write_whole(stream, "numa", fact->numa);
    write_text(stream, "cpus", fact->cpus);
    write_text(stream, "clock", fact->clock);
    write_text(stream, "libmpi", fact->libmpi);
    end_record(stream);
}

void write_library_file(FILE *stream, const struct library_file *file) {
    fputs("{\"record\":\"file\"", stream);
    write_text(stream, "path", file->path);
    write_whole(stream, "bytes", file->bytes);
    write_whole(stream, "modified_ns", file->modified_ns);
    write_whole(stream, "inode", file->inode);
    write_switch(stream, "listed", file->listed);
    write_text(stream, "sha256", file->sha256);
    end_record(stream);
}

void write_node(FILE *stream, const struct node *node) {
    fputs("{\"record\":\"node\"", stream);
    write_text(stream, "host", node->host);
    write_whole(stream, "probe_bytes", node->probe_bytes);
    fputs(",\"devices\":[", stream);
    for (int i = 0; i < node->devices.count; i++) {
        const struct device *const device = &node->devices.device[i];
        fputs(i ? ",{\"name\":" : "{\"name\":", stream);
        write_string(stream, device->name);
        write_text(stream, "kind", device->kind);
        write_text(stream, "state", device->state);
        write_text(stream, "rate", device->rate);
        write_text(stream, "driver", device->driver);
        write_whole(stream, "sent_bytes", device->sent_bytes);
        write_whole(stream, "received_bytes", device->received_bytes);
        fputc('}', stream);
    }
    fputc(']', stream);
    end_record(stream);
}

void write_begin(FILE *stream, int index, double hop_ns, struct slot slot) {
    fprintf(stream, "{\"record\":\"begin\",\"case\":%d", index);
    write_real(stream, "hop_ns", 1, hop_ns);
    if (slot.position >= 0) {
        write_whole(stream, "position", slot.position);
        write_whole(stream, "after", slot.after);
    }
    end_record(stream);
}

/* Writes a number, with a decimal unless it is whole. */
static void write_number(FILE *stream, const char *separator, double value) {
    fprintf(stream, value == floor(value) ? "%s%.0f" : "%s%.1f", separator, value);
}

#define WRITE_ARRAY(stream, key, count, value) \
    do { \
        fputs(",\"" key "\":[", stream); \
        for (int64_t i = 0; i < (count); i++) \
            write_number(stream, i ? "," : "", value); \
        fputc(']', stream); \
    } while (0)

static void write_indexes(FILE *stream, const char *key, const struct sample *samples, int64_t sample_count, int has, int lacks) {
    const char *separator = "";
    fprintf(stream, ",\"%s\":[", key);
    for (int64_t i = 0; i < sample_count; i++)
        if ((samples[i].state & has) && !(samples[i].state & lacks)) {
            fprintf(stream, "%s%lld", separator, (long long)i);
            separator = ",";
        }
    fputc(']', stream);
}

static bool has_bounds(const struct sample *samples, int64_t sample_count) {
    for (int64_t i = 0; i < sample_count; i++)
        if (samples[i].bound_ns > 0)
            return true;
    return false;
}

static void write_series(FILE *stream, int rank, const struct sample *samples, const struct result *result) {
    const int64_t sample_count = result->measurement.sample_count;
    const int64_t all = rank == SERIES_ALL ? sample_count : 0, bounded = has_bounds(samples, sample_count) ? sample_count : 0;
    const int64_t compared = sample_count > 0 && samples[0].first_ns <= samples[0].last_ns ? sample_count : 0;
    fprintf(stream, "{\"rank\":%d", rank);
    WRITE_ARRAY(stream, "time_ns", sample_count, samples[i].time_ns);
    WRITE_ARRAY(stream, "last_rank", all, samples[i].last_rank);
    write_indexes(stream, "late", samples, sample_count, ROUND_LATE, 0);
    write_indexes(stream, "overrun", samples, sample_count, ROUND_OVERRUN, ROUND_LATE);
    WRITE_ARRAY(stream, "skew_ns", compared, (double)(samples[i].last_ns - samples[i].first_ns));
    WRITE_ARRAY(stream, "bound_ns", bounded, samples[i].bound_ns * result->bound_factor);
    WRITE_ARRAY(stream, "error_ns", bounded, samples[i].error_ns * result->error_factor);
    fputc('}', stream);
}

void write_rank_series(FILE *stream, int rank, const struct sample *samples, const struct result *result) {
    fputc(',', stream);
    write_series(stream, rank, samples, result);
}

static void write_options(FILE *stream, const struct request *request) {
    const struct choice *choices[MOST_CHOICES];
    const int count = list_choices(find_operation(request->operation), choices);
    const char *separator = "";
    char value[NAME_BYTES];
    fputs(",\"options\":{", stream);
    for (int i = 0; i < count; i++)
        if (request->values[i] != find_default_value(choices[i])) {
            format_value(choices[i], request->values[i], value);
            fprintf(stream, "%s\"%s\":\"%s\"", separator, choices[i]->name, value);
            separator = ",";
        }
    fputc('}', stream);
}

static void write_numbers(FILE *stream, const char *key, const int *numbers, int count) {
    fprintf(stream, ",\"%s\":[", key);
    for (int i = 0; i < count; i++)
        fprintf(stream, "%s%d", i ? "," : "", numbers[i]);
    fputc(']', stream);
}

static void write_layout(FILE *stream, const struct layout *layout) {
    write_numbers(stream, "grid", layout->extents, layout->dimensions);
    write_numbers(stream, "order", layout->order, layout->order ? layout->ranks : 0);
    write_whole(stream, "hops", layout->hops);
}

static void write_bytes(FILE *stream, const char *key, const unsigned char *bytes, long count) {
    fprintf(stream, ",\"%s\":\"", key);
    for (long i = 0; i < count; i++)
        fprintf(stream, "%02x", bytes[i]);
    fputc('"', stream);
}

static void write_receipt(FILE *stream, const char *key, const struct receipt *receipt) {
    fprintf(stream, "\"%s\":{\"source\":%d,\"tag\":%d,\"count\":%d}", key, receipt->source, receipt->tag, receipt->elements);
}

void write_evidence(FILE *stream, int index, const struct evidence *evidence) {
    fprintf(stream, "{\"record\":\"evidence\",\"case\":%d", index);
    write_whole(stream, "rank", evidence->rank);
    write_whole(stream, "root", evidence->root);
    write_whole(stream, "run", evidence->runs);
    write_whole(stream, "received_bytes", evidence->receive_bytes);
    write_whole(stream, "wrong_bytes", evidence->wrong_bytes);
    write_whole(stream, "first_wrong", evidence->first);
    write_whole(stream, "begin", evidence->excerpt.from);
    write_bytes(stream, "received", evidence->excerpt.received, evidence->excerpt.bytes);
    write_bytes(stream, "expected", evidence->excerpt.expected, evidence->excerpt.bytes);
    fputs(",\"statuses\":[", stream);
    for (int i = 0; i < evidence->receipts; i++) {
        fputs(i ? ",{" : "{", stream);
        write_receipt(stream, "actual", &evidence->actual[i]);
        fputc(',', stream);
        write_receipt(stream, "expected", &evidence->expected[i]);
        fputc('}', stream);
    }
    fputc(']', stream);
    end_record(stream);
}

/* The columns of a case, one per line, in their order. */
static void write_columns(FILE *stream, const struct request *request, const struct result *result) {
    static const char *const stopped[] = {"", "samples", "tries", "rse", "interval", "time"};
    const struct measurement *measurement = &result->measurement;
    const struct outcome *outcome = &result->outcome;
    write_text(stream, "status", statuses[outcome->severity]);
    write_text(stream, "reason", outcome->reason);
    write_text(stream, "cause", outcome->cause);
    write_text(stream, "operation", request->operation);
    write_text(stream, "form", request->form);
    write_whole(stream, "bytes", request->bytes);
    write_text(stream, "datatype", request->datatype);
    write_text(stream, "start", request->start);
    write_text(stream, "cache", request->cache);
    write_text(stream, "buffers", request->buffers);
    write_text(stream, "pages", request->pages);
    write_whole(stream, "alignment", request->alignment);
    write_whole(stream, "root", request->root);
    write_options(stream, request);
    write_whole(stream, "ranks", result->ranks);
    write_whole(stream, "taken", measurement->sample_count);
    write_whole(stream, "valid", measurement->valid);
    write_whole(stream, "late", measurement->late);
    write_whole(stream, "overrun", measurement->overrun);
    write_whole(stream, "sync_bound_ns", result->sync_bound_ns);
    write_whole(stream, "drift_ns", outcome->drift_ns);
    write_whole(stream, "synchronisations", measurement->synchronisations);
    write_text(stream, "stopped", stopped[measurement->stopped]);
    write_whole(stream, "calls", measurement->repeats);
    write_real(stream, "cost_ns", 1, result->cost_ns);
    write_whole(stream, "first_window_ns", measurement->first_window_ns);
    write_whole(stream, "last_window_ns", measurement->last_window_ns);
    write_real(stream, "estimate_ns", 1, measurement->estimate_ns);
    write_whole(stream, "tolerance_ns", measurement->tolerance_ns);
    write_real(stream, "rank_share", 3, measurement->rank_share);
    write_whole(stream, "printed_bytes", outcome->printed_bytes);
    write_whole(stream, "leaked_bytes", result->strain.leaked_bytes);
    write_whole(stream, "waited_ns", result->strain.waited_ns);
    write_whole(stream, "timed_ns", result->strain.timed_ns);
    write_text(stream, "moved", result->moved);
    write_text(stream, "fallback", outcome->fallback);
    write_whole(stream, "moved_bytes", outcome->moved_bytes);
    write_whole(stream, "moved_messages", outcome->moved_messages);
    write_real(stream, "pure_ns", 1, result->pure_ns);
    write_real(stream, "compute_ns", 1, result->compute_ns);
    write_whole(stream, "growth_bytes", outcome->growth_bytes);
    write_whole(stream, "spread_ns", result->spread_ns);
    write_whole(stream, "first_ns", outcome->call_ns[0]);
    write_whole(stream, "second_ns", outcome->call_ns[1]);
    write_layout(stream, &result->layout);
}

/* Samples are written only for right data. The record stays open: series of single ranks may follow. */
void write_result(FILE *stream, int index, const struct request *request, const struct result *result) {
    fprintf(stream, "{\"record\":\"case\",\"case\":%d", index);
    write_columns(stream, request, result);
    fputs(",\"series\":[", stream);
    if (result->measurement.sample_count > 0 && result->outcome.severity == GOOD)
        write_series(stream, result->measurer, result->measurement.samples, result);
}

void end_result(FILE *stream) {
    fputc(']', stream);
    end_record(stream);
}

/* Messages and bytes of the core itself: of rank 0, and the largest over ranks. */
void write_end(FILE *stream, int cases, double hop_ns, const struct rest *rest, const struct talk *first,
               const struct talk *most) {
    fputs("{\"record\":\"end\"", stream);
    write_whole(stream, "cases", cases);
    write_real(stream, "hop_ns", 1, hop_ns);
    write_real(stream, "waited_s", 6, 1e-9 * (double)rest->waited_ns);
    write_real(stream, "busy_s", 6, 1e-9 * (double)rest->busy_ns);
    fputs(",\"spent_s\":{", stream);
    for (int part = 0; part < PARTS; part++)
        fprintf(stream, "%s\"%s\":%.6f", part ? "," : "", part_names[part], read_part_s((enum part)part));
    fputc('}', stream);
    write_whole(stream, "rank_0_messages", first->messages);
    write_whole(stream, "most_messages", most->messages);
    write_whole(stream, "rank_0_bytes", first->bytes);
    write_whole(stream, "most_bytes", most->bytes);
    write_whole(stream, "rank_0_memory_bytes", first->memory_bytes);
    write_whole(stream, "most_memory_bytes", most->memory_bytes);
    end_record(stream);
}
