/* The stream: JSON, one record a line, flushed line by line, so that whatever was finished can be read after any end. */
#include <math.h>
#include <string.h>

#include "core.h"

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

static void write_text(FILE *stream, const char *key, const char *text) {
    fprintf(stream, ",\"%s\":", key);
    write_string(stream, text);
}

static void end_record(FILE *stream) {
    fputs("}\n", stream);
    if (fflush(stream) == 0 && !ferror(stream))
        return;
    fputs("rankbench-core: the stream cannot be written; is the disk full?\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_MPI);
}

void write_launch(FILE *stream, const struct launch_fact *launch, const struct source *source, int ranks) {
    fprintf(stream, "{\"record\":\"launch\",\"format\":1,\"ranks\":%d", ranks);
    write_text(stream, "library_version", launch->library);
    fprintf(stream, ",\"mpi_version\":\"%d.%d\",\"core\":\"" CORE_VERSION "\"", launch->mpi_version, launch->mpi_subversion);
    write_text(stream, "source", source->name);
    fprintf(stream, ",\"resolution_ns\":%lld,\"cost_ns\":%.1f", (long long)launch->resolution_ns, launch->cost_ns);
    end_record(stream);
}

void write_rank(FILE *stream, int rank, const struct rank_fact *fact) {
    fprintf(stream, "{\"record\":\"rank\",\"rank\":%d", rank);
    write_text(stream, "host", fact->host);
    fprintf(stream, ",\"cpu\":%d", fact->cpu);
    write_text(stream, "cpus", fact->cpus);
    write_text(stream, "clock", fact->clock);
    write_text(stream, "libmpi", fact->libmpi);
    end_record(stream);
}

void write_begin(FILE *stream, int index) {
    fprintf(stream, "{\"record\":\"begin\",\"case\":%d", index);
    end_record(stream);
}

static void write_times(FILE *stream, const struct measurement *measurement) {
    fputs(",\"time_ns\":[", stream);
    for (int64_t i = 0; i < measurement->taken; i++) {
        const double time_ns = measurement->samples[i].time_ns;
        fprintf(stream, time_ns == floor(time_ns) ? "%s%.0f" : "%s%.1f", i ? "," : "", time_ns);
    }
    fputc(']', stream);
}

static void write_last_ranks(FILE *stream, const struct measurement *measurement, bool single) {
    fputs(",\"last_rank\":[", stream);
    for (int64_t i = 0; i < measurement->taken && !single; i++)
        fprintf(stream, "%s%d", i ? "," : "", (int)measurement->samples[i].last_rank);
    fputc(']', stream);
}

static void write_indexes(FILE *stream, const char *key, const struct measurement *measurement, int has, int lacks) {
    const char *separator = "";
    fprintf(stream, ",\"%s\":[", key);
    for (int64_t i = 0; i < measurement->taken; i++) {
        const int state = measurement->samples[i].state;
        if ((state & has) && !(state & lacks)) {
            fprintf(stream, "%s%lld", separator, (long long)i);
            separator = ",";
        }
    }
    fputc(']', stream);
}

/* Only what was measured on right data is a figure. */
static void write_series(FILE *stream, const struct result *result) {
    const struct measurement *measurement = &result->measurement;
    fputs(",\"series\":[", stream);
    if (measurement->taken > 0 && strcmp(result->status, "ok") == 0) {
        fprintf(stream, "{\"rank\":%d", result->single ? 0 : SERIES_ALL);
        write_times(stream, measurement);
        write_last_ranks(stream, measurement, result->single);
        write_indexes(stream, "late", measurement, ROUND_LATE, 0);
        write_indexes(stream, "overrun", measurement, ROUND_OVERRUN, ROUND_LATE);
        fputc('}', stream);
    }
    fputc(']', stream);
}

void write_result(FILE *stream, int index, const struct wanted *wanted, const struct result *result) {
    const struct measurement *measurement = &result->measurement;
    fprintf(stream, "{\"record\":\"case\",\"case\":%d", index);
    write_text(stream, "status", result->status);
    write_text(stream, "reason", result->reason);
    write_text(stream, "operation", wanted->operation);
    write_text(stream, "form", wanted->form);
    fprintf(stream, ",\"bytes\":%lld", (long long)wanted->bytes);
    write_text(stream, "datatype", wanted->datatype);
    write_text(stream, "start", wanted->start);
    fprintf(stream, ",\"ranks\":%d,\"taken\":%lld,\"valid\":%lld,\"late\":%lld,\"overrun\":%lld", result->ranks,
            (long long)measurement->taken, (long long)(measurement->taken - measurement->late), (long long)measurement->late,
            (long long)measurement->overrun);
    fprintf(stream, ",\"sync_bound_ns\":%lld,\"drift_ns\":%lld,\"migrated\":%s", (long long)result->sync_bound_ns,
            (long long)result->drift_ns, result->migrated ? "true" : "false");
    write_series(stream, result);
    end_record(stream);
}

void write_end(FILE *stream, int cases) {
    fprintf(stream, "{\"record\":\"end\",\"cases\":%d", cases);
    end_record(stream);
}
