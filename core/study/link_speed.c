#include "study/link_speed.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/steady.h"
#include "base/tree.h"

enum { MESSAGE_BYTES = 8, MESSAGES_NS = 15000000, LEAST_MESSAGES = 20, MOST_MESSAGES = 4096 };
enum { CHUNK_BYTES = 1 << 17, CHUNKS = 16, STREAM_NS = 15000000 };
enum { FIRST_CALLS = 5, ALLREDUCE_NS = 15000000, MOST_CALLS = 2000 };
enum { TAG_MESSAGE = 7101, TAG_CHUNK, TAG_END };

/* The one that asks says in each message whether another follows. */
static double exchange_messages(const struct team *team, int partner, bool asks, int64_t long_ns, int least) {
    static double half_ns[MOST_MESSAGES];
    char message[MESSAGE_BYTES] = {0};
    double median_ns = 0;
    int count = 0;
    const int64_t until_ns = read_steady_ns() + long_ns;
    for (bool more = true; more; count++) {
        const int64_t before_ns = read_steady_ns();
        if (!asks)
            receive_bytes(team, message, MESSAGE_BYTES, partner, TAG_MESSAGE);
        else
            *message = count + 1 < least || (before_ns < until_ns && count + 1 < MOST_MESSAGES);
        send_bytes(team, message, MESSAGE_BYTES, partner, TAG_MESSAGE);
        more = *message;
        if (asks) {
            receive_bytes(team, message, MESSAGE_BYTES, partner, TAG_MESSAGE);
            half_ns[count] = (double)(read_steady_ns() - before_ns) / 2;
        }
    }
    if (asks) {
        median_ns = find_median(half_ns, count);
        send_bytes(team, &median_ns, sizeof median_ns, partner, TAG_END);
    } else {
        receive_bytes(team, &median_ns, sizeof median_ns, partner, TAG_END);
    }
    return median_ns;
}

double time_message_ns(const struct team *team, int partner, bool asks) {
    return exchange_messages(team, partner, asks, MESSAGES_NS, LEAST_MESSAGES);
}

/* One window; the receiver answers when it has all. The first byte says whether another follows, which is returned. */
static bool send_window(const struct team *team, int partner, bool sends, char *chunks, int count, bool more) {
    MPI_Request requests[CHUNKS];
    char end = 0;
    *chunks = more;
    for (int i = 0; i < count; i++) {
        char *const chunk = chunks + (size_t)CHUNK_BYTES * (size_t)i;
        abort_on_error(sends ? MPI_Isend(chunk, CHUNK_BYTES, MPI_BYTE, partner, TAG_CHUNK, team->comm, &requests[i])
                             : MPI_Irecv(chunk, CHUNK_BYTES, MPI_BYTE, partner, TAG_CHUNK, team->comm, &requests[i]),
                       sends ? "MPI_Isend" : "MPI_Irecv");
    }
    abort_on_error(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    if (sends)
        receive_bytes(team, &end, 1, partner, TAG_END);
    else
        send_bytes(team, &end, 1, partner, TAG_END);
    return *chunks;
}

double stream_messages(const struct team *team, int partner, bool sends) {
    char *const chunks = memset(obtain_memory((size_t)CHUNK_BYTES * CHUNKS), 1, (size_t)CHUNK_BYTES * CHUNKS);
    const int64_t before_ns = read_steady_ns();
    double bytes_per_s = 0;
    int windows = 0;
    for (bool more = true; more; windows++)
        more = send_window(team, partner, sends, chunks, CHUNKS, read_steady_ns() < before_ns + STREAM_NS);
    if (sends) {
        bytes_per_s = 1e9 * CHUNK_BYTES * CHUNKS * windows / (double)(read_steady_ns() - before_ns);
        send_bytes(team, &bytes_per_s, sizeof bytes_per_s, partner, TAG_END);
    } else {
        receive_bytes(team, &bytes_per_s, sizeof bytes_per_s, partner, TAG_END);
    }
    free(chunks);
    return bytes_per_s;
}

void connect_ranks(const struct team *team, int partner, bool asks) {
    char *const chunk = obtain_memory(CHUNK_BYTES);
    exchange_messages(team, partner, asks, 0, 1);
    send_window(team, partner, asks, chunk, 1, false);
    send_window(team, partner, !asks, chunk, 1, false);
    free(chunk);
}

/* After a few calls the ranks agree how many there are in all. */
double time_allreduce_ns(MPI_Comm comm) {
    double value = 1, sum;
    int calls = FIRST_CALLS;
    int64_t before_ns = 0;
    for (int call = -FIRST_CALLS; call < calls; call++) {
        if (call == 0) {
            calls =
                (int)clamp((double)(ALLREDUCE_NS / ((read_steady_ns() - before_ns) / FIRST_CALLS + 1)), FIRST_CALLS, MOST_CALLS);
            abort_on_error(MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
        }
        if (call == -FIRST_CALLS || call == 0)
            before_ns = read_steady_ns();
        abort_on_error(MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
    }
    return (double)(read_steady_ns() - before_ns) / calls;
}
