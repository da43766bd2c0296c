#define _GNU_SOURCE
#include "base/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/allocation.h"
#include "base/numbers.h"

/* Most bytes that rank 0 stores for this. */
static const double MOST_HANDED_UP = 16 << 20;
enum { TAG_BARRIER = 7001, TAG_DOWN, TAG_UP, TAG_TURN, TAG_HAND_OVER };

struct traffic traffic;

void abort_on_error(int code, const char *call) {
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "rankbench-core: %s of the core itself failed: %s\n", call, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void count_traffic(int bytes) {
    traffic.messages++;
    traffic.bytes += bytes;
}

void send_bytes(const struct team *team, const void *data, int bytes, int to, int tag) {
    count_traffic(bytes);
    abort_on_error(MPI_Send(data, bytes, MPI_BYTE, to, tag, team->comm), "MPI_Send");
}

void give_progress(const struct team *team) {
    int arrived;
    abort_on_error(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, team->comm, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

static void wait_for_message(const struct team *team, int from, int tag) {
    enum { LOOKS = 100 };
    const struct timespec nap = {.tv_nsec = 200000};
    for (int look = 0, arrived = 0; !arrived; look++) {
        abort_on_error(MPI_Iprobe(from, tag, team->comm, &arrived, MPI_STATUS_IGNORE), "MPI_Iprobe");
        if (!arrived && look > LOOKS)
            nanosleep(&nap, NULL);
    }
}

void receive_bytes(const struct team *team, void *data, int bytes, int from, int tag) {
    if (team->idle)
        wait_for_message(team, from, tag);
    count_traffic(bytes);
    abort_on_error(MPI_Recv(data, bytes, MPI_BYTE, from, tag, team->comm, MPI_STATUS_IGNORE), "MPI_Recv");
}

void receive_bytes_patiently(const struct team *team, void *data, int bytes, int from, int tag) {
    wait_for_message(team, from, tag);
    receive_bytes(team, data, bytes, from, tag);
}

/* In a binomial tree a rank's parent is itself without its lowest set bit; its children add one lower bit each. */
static int find_lowest_bit(const struct team *team) {
    if (team->rank != 0)
        return team->rank & -team->rank;
    int bit = 1;
    while (bit < team->ranks)
        bit *= 2;
    return bit;
}

static void send_down(const struct team *team, const void *data, int bytes) {
    for (int bit = find_lowest_bit(team) / 2; bit > 0; bit /= 2)
        if (team->rank + bit < team->ranks)
            send_bytes(team, data, bytes, team->rank + bit, TAG_DOWN);
}

void tree_broadcast(const struct team *team, void *data, int bytes) {
    if (team->rank != 0)
        receive_bytes(team, data, bytes, team->rank - find_lowest_bit(team), TAG_DOWN);
    send_down(team, data, bytes);
}

void tree_broadcast_patient(const struct team *team, void *data, int bytes) {
    if (team->rank != 0)
        receive_bytes_patiently(team, data, bytes, team->rank - find_lowest_bit(team), TAG_DOWN);
    send_down(team, data, bytes);
}

static void combine(const struct team *team, void *data, int bytes, merge_function *merge, receive_function *receive) {
    if (team->ranks == 1)
        return;
    void *other = obtain_memory((size_t)bytes);
    for (int bit = 1; bit < find_lowest_bit(team) && team->rank + bit < team->ranks; bit *= 2) {
        receive(team, other, bytes, team->rank + bit, TAG_UP);
        merge(data, other, bytes);
    }
    if (team->rank != 0)
        send_bytes(team, data, bytes, team->rank - find_lowest_bit(team), TAG_UP);
    free(other);
}

void tree_combine(const struct team *team, void *data, int bytes, merge_function *merge) {
    combine(team, data, bytes, merge, receive_bytes);
}

void tree_combine_patient(const struct team *team, void *data, int bytes, merge_function *merge) {
    combine(team, data, bytes, merge, receive_bytes_patiently);
}

void merge_largest(void *into, const void *from, int bytes) {
    int64_t *local = into;
    const int64_t *theirs = from;
    for (int i = 0; i < bytes / (int)sizeof *local; i++)
        local[i] = max(local[i], theirs[i]);
}

void merge_largest_int(void *into, const void *from, int bytes) {
    (void)bytes;
    *(int32_t *)into = (int32_t)max(*(int32_t *)into, *(const int32_t *)from);
}

static void merge_agreement(void *into, const void *from, int bytes) {
    (void)bytes;
    *(bool *)into = *(bool *)into && *(const bool *)from;
}

bool tree_agree(const struct team *team, bool local) {
    tree_combine(team, &local, sizeof local, merge_agreement);
    tree_broadcast(team, &local, sizeof local);
    return local;
}

bool tree_agree_patient(const struct team *team, bool local) {
    tree_combine_patient(team, &local, sizeof local, merge_agreement);
    tree_broadcast_patient(team, &local, sizeof local);
    return local;
}

/* The subtree of a rank has consecutive ranks, so that their data are in rank order. */
static void gather_up_tree(const struct team *team, const void *data, int bytes, rank_function *visit, void *context) {
    const int below = find_lowest_bit(team), last = team->ranks - team->rank, subtree_ranks = (int)min(below, last);
    char *all = obtain_memory((size_t)subtree_ranks * (size_t)bytes);
    memcpy(all, data, (size_t)bytes);
    for (int bit = 1; bit < subtree_ranks; bit *= 2) {
        const int theirs = (int)min(subtree_ranks - bit, bit);
        receive_bytes(team, all + (size_t)bit * (size_t)bytes, theirs * bytes, team->rank + bit, TAG_UP);
    }
    if (team->rank != 0)
        send_bytes(team, all, subtree_ranks * bytes, team->rank - below, TAG_UP);
    for (int rank = 0; team->rank == 0 && rank < subtree_ranks; rank++)
        visit(context, rank, all + (size_t)rank * (size_t)bytes);
    free(all);
}

/* Ranks send on request, so that messages do not queue up at rank 0. */
static void gather_in_turn(const struct team *team, const void *data, int bytes, rank_function *visit, void *context) {
    char turn = 0;
    if (team->rank != 0) {
        receive_bytes_patiently(team, &turn, 1, 0, TAG_TURN);
        send_bytes(team, data, bytes, 0, TAG_HAND_OVER);
        return;
    }
    void *theirs = obtain_memory((size_t)bytes);
    visit(context, 0, data);
    for (int rank = 1; rank < team->ranks; rank++) {
        send_bytes(team, &turn, 1, rank, TAG_TURN);
        receive_bytes(team, theirs, bytes, rank, TAG_HAND_OVER);
        visit(context, rank, theirs);
    }
    free(theirs);
}

void gather_ranks(const struct team *team, const void *data, int bytes, rank_function *visit, void *context) {
    if ((double)bytes * team->ranks <= MOST_HANDED_UP)
        gather_up_tree(team, data, bytes, visit, context);
    else
        gather_in_turn(team, data, bytes, visit, context);
}

/* Records that differ from each other in few bytes: each as runs of bytes that are those of the record before, and of others. The
 * first one follows a record of zeros. */
struct packed {
    char *data;
    size_t bytes;
};

struct run {
    uint16_t same, others;
};

static void append(struct packed *packed, const void *data, size_t bytes) {
    packed->data = extend_memory(packed->data, packed->bytes + bytes);
    memcpy(packed->data + packed->bytes, data, bytes);
    packed->bytes += bytes;
}

/* A run costs more than the few equal bytes that it would leave out. */
static bool ends_run(const char *record, const char *before, int bytes) {
    enum { FEW = 8 };
    return memcmp(record, before, (size_t)min(FEW, bytes)) == 0;
}

static void pack(struct packed *packed, const char *record, const char *before, int bytes) {
    for (int at = 0; at < bytes;) {
        struct run run = {0};
        for (; at < bytes && record[at] == before[at] && run.same < UINT16_MAX; at++)
            run.same++;
        const char *others = record + at;
        for (; at < bytes && run.others < UINT16_MAX && !ends_run(record + at, before + at, bytes - at); at++)
            run.others++;
        append(packed, &run, sizeof run);
        append(packed, others, run.others);
    }
}

/* Makes a record of the one before, and returns how many packed bytes it had. */
static size_t unpack(char *record, const char *packed, int bytes) {
    const char *from = packed;
    for (int at = 0; at < bytes;) {
        struct run run;
        memcpy(&run, from, sizeof run);
        at += run.same;
        memcpy(record + at, from + sizeof run, run.others);
        at += run.others;
        from += sizeof run + run.others;
    }
    return (size_t)(from - packed);
}

/* Appends the records of a subtree; its first one then follows `last`, which becomes its last one. */
static void append_subtree(const struct team *team, int root, int ranks, struct packed *all, char *last, int bytes) {
    int length;
    receive_bytes(team, &length, sizeof length, root, TAG_UP);
    char *theirs = obtain_memory((size_t)length), *record = obtain_memory((size_t)bytes);
    receive_bytes(team, theirs, length, root, TAG_UP);
    size_t at = unpack(record, theirs, bytes);
    pack(all, record, last, bytes);
    append(all, theirs + at, (size_t)length - at);
    for (int rank = 1; rank < ranks; rank++)
        at += unpack(record, theirs + at, bytes);
    memcpy(last, record, (size_t)bytes);
    free(record);
    free(theirs);
}

void gather_alike(const struct team *team, const void *data, int bytes, rank_function *visit, void *context) {
    const int below = find_lowest_bit(team), after = team->ranks - team->rank, ranks = (int)min(below, after);
    struct packed all = {0};
    char *last = obtain_memory((size_t)bytes);
    pack(&all, data, last, bytes);
    memcpy(last, data, (size_t)bytes);
    for (int bit = 1; bit < ranks; bit *= 2)
        append_subtree(team, team->rank + bit, (int)min(ranks - bit, bit), &all, last, bytes);
    if (team->rank != 0) {
        const int length = (int)all.bytes;
        send_bytes(team, &length, sizeof length, team->rank - below, TAG_UP);
        send_bytes(team, all.data, length, team->rank - below, TAG_UP);
    }
    memset(last, 0, (size_t)bytes);
    size_t at = 0;
    for (int rank = 0; team->rank == 0 && rank < ranks; rank++) {
        at += unpack(last, all.data + at, bytes);
        visit(context, rank, last);
    }
    free(last);
    free(all.data);
}

/* Hensgen, Finkel and Manber (1988): after round k every rank knows of the arrival of 2^(k+1) others. */
void dissemination_barrier(const struct team *team) {
    for (int distance = 1; distance < team->ranks; distance *= 2) {
        int to = (team->rank + distance) % team->ranks;
        int from = (team->rank - distance + team->ranks) % team->ranks;
        count_traffic(0);
        count_traffic(0);
        abort_on_error(
            MPI_Sendrecv(NULL, 0, MPI_BYTE, to, TAG_BARRIER, NULL, 0, MPI_BYTE, from, TAG_BARRIER, team->comm, MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
    }
}
