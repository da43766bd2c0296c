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

static void write_sources(FILE *stream, const struct source_fact *sources) {
    fputs(",\"sources\":[", stream);
    for (int i = 0; i < count_sources(); i++) {
        fprintf(stream, "%s{\"name\":\"%s\",\"usable\":%s", i ? "," : "", sources[i].name, sources[i].usable ? "true" : "false");
        write_text(stream, "reason", sources[i].reason);
        fprintf(stream, ",\"resolution_ns\":%lld,\"cost_ns\":%.1f}", (long long)sources[i].resolution_ns, sources[i].cost_ns);
    }
    fputc(']', stream);
}

void write_launch(FILE *stream, const struct launch_fact *launch, const struct world *world) {
    char mode[FLOAT_MODE_BYTES];
    fprintf(stream, "{\"record\":\"launch\",\"format\":1,\"ranks\":%d", world->all.ranks);
    write_text(stream, "library_version", launch->library);
    fprintf(stream, ",\"mpi_version\":\"%d.%d\",\"core\":\"" CORE_VERSION "\"", launch->mpi_version, launch->mpi_subversion);
    write_text(stream, "source", world->source->name);
    write_text(stream, "source_reason", world->why);
    const struct source_fact *chosen = find_source_fact(world->sources, world->source->name);
    fprintf(stream, ",\"resolution_ns\":%lld,\"cost_ns\":%.1f", (long long)chosen->resolution_ns, chosen->cost_ns);
    write_text(stream, "synchronisation", world->synchronisation->name);
    fprintf(stream, ",\"last_level_cache_bytes\":%lld", (long long)launch->last_level_cache_bytes);
    describe_startup_mode(mode);
    write_text(stream, "float_mode", mode);
    write_sources(stream, world->sources);
    end_record(stream);
}

void write_rank(FILE *stream, int rank, const struct rank_fact *fact) {
    fprintf(stream, "{\"record\":\"rank\",\"rank\":%d", rank);
    write_text(stream, "host", fact->host);
    fprintf(stream, ",\"cpu\":%d,\"core\":%d,\"socket\":%d,\"numa\":%d", fact->cpu, fact->core, fact->socket, fact->numa);
    write_text(stream, "cpus", fact->cpus);
    write_text(stream, "clock", fact->clock);
    write_text(stream, "libmpi", fact->libmpi);
    end_record(stream);
}

void write_library_file(FILE *stream, const struct library_file *file) {
    fputs("{\"record\":\"file\"", stream);
    write_text(stream, "path", file->path);
    fprintf(stream, ",\"bytes\":%lld,\"modified_ns\":%lld,\"inode\":%lld", (long long)file->bytes, (long long)file->modified_ns,
            (long long)file->inode);
    fprintf(stream, ",\"listed\":%s", file->listed ? "true" : "false");
    write_text(stream, "sha256", file->sha256);
    end_record(stream);
}

void write_node(FILE *stream, const struct node *node) {
    fputs("{\"record\":\"node\"", stream);
    write_text(stream, "host", node->host);
    fprintf(stream, ",\"probe_bytes\":%lld,\"devices\":[", (long long)node->probe_bytes);
    for (int i = 0; i < node->devices.count; i++) {
        const struct device *const device = &node->devices.device[i];
        fputs(i ? ",{\"name\":" : "{\"name\":", stream);
        write_string(stream, device->name);
        write_text(stream, "kind", device->kind);
        write_text(stream, "state", device->state);
        write_text(stream, "rate", device->rate);
        write_text(stream, "driver", device->driver);
        fprintf(stream, ",\"sent_bytes\":%lld,\"received_bytes\":%lld}", (long long)device->sent_bytes,
                (long long)device->received_bytes);
    }
    fputc(']', stream);
    end_record(stream);
}

void write_begin(FILE *stream, int index, double hop_ns, struct slot slot) {
    fprintf(stream, "{\"record\":\"begin\",\"case\":%d,\"hop_ns\":%.1f", index, hop_ns);
    if (slot.position >= 0)
        fprintf(stream, ",\"position\":%d,\"after\":%d", slot.position, slot.after);
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

static void write_memory(FILE *stream, const struct request *request) {
    write_text(stream, "cache", request->cache);
    write_text(stream, "buffers", request->buffers);
    write_text(stream, "pages", request->pages);
    fprintf(stream, ",\"alignment\":%lld,\"root\":%lld", (long long)request->alignment, (long long)request->root);
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

static void write_quantities(FILE *stream, const struct result *result) {
    fprintf(stream, ",\"moved_bytes\":%lld,\"moved_messages\":%lld", (long long)result->moved_bytes,
            (long long)result->moved_messages);
    fprintf(stream, ",\"pure_ns\":%.1f,\"compute_ns\":%.1f", result->pure_ns, result->compute_ns);
    fprintf(stream, ",\"growth_bytes\":%lld,\"spread_ns\":%lld", (long long)result->growth_bytes, (long long)result->spread_ns);
    fprintf(stream, ",\"first_ns\":%lld,\"second_ns\":%lld", (long long)result->call_ns[0], (long long)result->call_ns[1]);
}

static void write_counts(FILE *stream, const struct result *result) {
    static const char *const stopped[] = {"", "samples", "tries", "rse", "interval", "time"};
    const struct measurement *measurement = &result->measurement;
    fprintf(stream, ",\"ranks\":%d,\"taken\":%lld,\"valid\":%lld,\"late\":%lld,\"overrun\":%lld", result->ranks,
            (long long)measurement->sample_count, (long long)measurement->valid, (long long)measurement->late,
            (long long)measurement->overrun);
    fprintf(stream, ",\"sync_bound_ns\":%lld,\"drift_ns\":%lld,\"synchronisations\":%lld,\"stopped\":\"%s\"",
            (long long)result->sync_bound_ns, (long long)result->drift_ns, (long long)measurement->synchronisations,
            stopped[measurement->stopped]);
    fprintf(stream, ",\"calls\":%d,\"cost_ns\":%.1f,\"first_window_ns\":%lld,\"last_window_ns\":%lld", measurement->repeats,
            result->cost_ns, (long long)measurement->first_window_ns, (long long)measurement->last_window_ns);
    fprintf(stream, ",\"estimate_ns\":%.1f,\"tolerance_ns\":%lld", measurement->estimate_ns,
            (long long)measurement->tolerance_ns);
    fprintf(stream, ",\"printed_bytes\":%lld,\"leaked_bytes\":%lld", (long long)result->printed_bytes,
            (long long)result->strain.leaked_bytes);
    fprintf(stream, ",\"waited_ns\":%lld,\"timed_ns\":%lld", (long long)result->strain.waited_ns,
            (long long)result->strain.timed_ns);
    write_text(stream, "moved", result->moved);
    write_text(stream, "fallback", result->fallback);
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
    fprintf(stream, ",\"hops\":%d", layout->hops);
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
    fprintf(stream, "{\"record\":\"evidence\",\"case\":%d,\"rank\":%d,\"root\":%d,\"run\":%lld", index, evidence->rank,
            evidence->root, (long long)evidence->runs);
    fprintf(stream, ",\"received_bytes\":%ld,\"wrong_bytes\":%ld,\"first_wrong\":%ld,\"begin\":%ld", evidence->receive_bytes,
            evidence->wrong_bytes, evidence->first, evidence->excerpt.from);
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

/* Samples are written only for right data. The record stays open: series of single ranks may follow. */
void write_result(FILE *stream, int index, const struct request *request, const struct result *result) {
    const struct measurement *measurement = &result->measurement;
    fprintf(stream, "{\"record\":\"case\",\"case\":%d", index);
    write_text(stream, "status", statuses[result->severity]);
    write_text(stream, "reason", result->reason);
    write_text(stream, "cause", result->cause);
    write_text(stream, "operation", request->operation);
    write_text(stream, "form", request->form);
    fprintf(stream, ",\"bytes\":%lld", (long long)request->bytes);
    write_text(stream, "datatype", request->datatype);
    write_text(stream, "start", request->start);
    write_memory(stream, request);
    write_options(stream, request);
    write_counts(stream, result);
    write_quantities(stream, result);
    write_layout(stream, &result->layout);
    fputs(",\"series\":[", stream);
    if (measurement->sample_count > 0 && result->severity == GOOD)
        write_series(stream, result->measurer, measurement->samples, result);
}

void end_result(FILE *stream) {
    fputc(']', stream);
    end_record(stream);
}

/* Messages and bytes of the core itself: of rank 0, and the largest over ranks. */
void write_end(FILE *stream, int cases, double hop_ns, const struct rest *rest, const struct talk *first,
               const struct talk *most) {
    fprintf(stream, "{\"record\":\"end\",\"cases\":%d,\"hop_ns\":%.1f", cases, hop_ns);
    fprintf(stream, ",\"waited_s\":%.6f,\"busy_s\":%.6f", 1e-9 * (double)rest->waited_ns, 1e-9 * (double)rest->busy_ns);
    fputs(",\"spent_s\":{", stream);
    for (int part = 0; part < PARTS; part++)
        fprintf(stream, "%s\"%s\":%.6f", part ? "," : "", part_names[part], read_part_s((enum part)part));
    fputc('}', stream);
    fprintf(stream, ",\"rank_0_messages\":%lld,\"most_messages\":%lld", (long long)first->messages, (long long)most->messages);
    fprintf(stream, ",\"rank_0_bytes\":%lld,\"most_bytes\":%lld", (long long)first->bytes, (long long)most->bytes);
    fprintf(stream, ",\"rank_0_memory_bytes\":%lld,\"most_memory_bytes\":%lld", (long long)first->memory_bytes,
            (long long)most->memory_bytes);
    end_record(stream);
}
