/* Two ranks exchange messages, and one of them is 20 ms late each time. The first argument says how they do it.
 *
 * recv, sendrecv, waitall, persistent: rank 1 sends late. ssend: rank 1 receives late. eager: the same, which the sender
 * does not wait for. nobody: as waitall, together with requests to no rank. both: as waitall, in one of two communicators
 * of the same ranks, which both ranks used first in another order. many: as recv, between more messages than are kept.
 *
 * Rank 1 sends late, and source and tag of a receive are not given. any: blocking. later, restarted: nonblocking,
 * persistent. behind: a first message comes at once, which it takes; the late one is for the next receive, which ends
 * first. turned: two such receives end in reverse order. listening: one of another tag is pending all the time. mixed: all
 * waits and tests of five receives. crowd: more are pending than are kept. cancelled-any: it is
 * cancelled, and the next receive takes the message; cancelled: the same of a receive from rank 1. probed: a matched
 * probe takes the first of two messages. waits-in-probe, polls: the receive comes behind a probe. */
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 10, LATE_US = 20000, TAG = 3, OTHERS = 3, MANY = 200000, FIVE = 5, CROWD = 300 };

static double sent[2], received[FIVE];
static int rank;

static void exchange_all(MPI_Comm communicator, int others) {
    MPI_Request requests[2 + 2 * OTHERS];
    MPI_Irecv(received, 1, MPI_DOUBLE, !rank, TAG, communicator, &requests[0]);
    MPI_Isend(sent, 1, MPI_DOUBLE, !rank, TAG, communicator, &requests[1]);
    for (int i = 0; i < others; i++) {
        MPI_Irecv(&received[1], 1, MPI_DOUBLE, MPI_PROC_NULL, TAG, communicator, &requests[2 + 2 * i]);
        MPI_Isend(&sent[1], 1, MPI_DOUBLE, MPI_PROC_NULL, TAG, communicator, &requests[3 + 2 * i]);
    }
    MPI_Waitall(2 + 2 * others, requests, MPI_STATUSES_IGNORE);
}

static void start_all(void) {
    static MPI_Request requests[2];
    if (!requests[0]) {
        MPI_Recv_init(received, 1, MPI_DOUBLE, !rank, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(sent, 1, MPI_DOUBLE, !rank, TAG, MPI_COMM_WORLD, &requests[1]);
    }
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static MPI_Comm world, made[2];

static void use_in_another_order(void) {
    MPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &made[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Request requests[4];
        for (int j = 0; j < 2; j++) {
            const int place = rank ? j : 1 - j;
            MPI_Irecv(&received[place], 1, MPI_DOUBLE, !rank, TAG, made[place], &requests[2 * j]);
            MPI_Isend(&sent[place], 1, MPI_DOUBLE, !rank, TAG, made[place], &requests[2 * j + 1]);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    world = made[0];
}

static void pass(int source, int tag) {
    if (rank == 0)
        MPI_Recv(received, 1, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(sent, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
}

static MPI_Request receive(int place, int source, int tag) {
    MPI_Request request;
    MPI_Irecv(&received[place], 1, MPI_DOUBLE, source, tag, MPI_COMM_WORLD, &request);
    return request;
}

static void send(int tag) {
    MPI_Send(sent, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
}

static void receive_later(bool persistent) {
    MPI_Request request;
    if (rank == 1) {
        send(TAG);
    } else if (persistent) {
        MPI_Recv_init(received, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    } else {
        request = receive(0, MPI_ANY_SOURCE, TAG);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* The first message is sent before rank 1 is late. */
static void receive_behind(int source) {
    if (rank == 1) {
        send(TAG);
        return;
    }
    MPI_Request first = receive(0, MPI_ANY_SOURCE, MPI_ANY_TAG), second = receive(1, source, TAG);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
}

static void receive_in_all_ways(void) {
    MPI_Request requests[FIVE];
    int ended = 0, place, places[FIVE];
    if (rank == 1) {
        for (int i = 0; i < FIVE; i++)
            send(TAG);
        return;
    }
    for (int i = 0; i < FIVE; i++)
        requests[i] = receive(i, i % 2 ? 1 : MPI_ANY_SOURCE, TAG);
    MPI_Waitany(FIVE, requests, &place, MPI_STATUS_IGNORE);
    while (!ended)
        MPI_Testany(FIVE, requests, &place, &ended, MPI_STATUS_IGNORE);
    MPI_Waitsome(FIVE, requests, &ended, places, MPI_STATUSES_IGNORE);
    MPI_Testsome(FIVE, requests, &ended, places, MPI_STATUSES_IGNORE);
    for (ended = 0; !ended;)
        MPI_Testall(FIVE, requests, &ended, MPI_STATUSES_IGNORE);
}

static void receive_crowd(void) {
    MPI_Request requests[CROWD];
    if (rank == 1) {
        for (int i = 0; i < CROWD; i++)
            send(TAG);
        return;
    }
    for (int i = 0; i < CROWD; i++)
        requests[i] = receive(0, MPI_ANY_SOURCE, TAG);
    MPI_Waitall(CROWD, requests, MPI_STATUSES_IGNORE);
}

/* One is cancelled before anything is sent that it fits; the next receive takes the message. */
static void receive_after_cancel(int source) {
    MPI_Request request = rank == 0 ? receive(0, source, TAG) : MPI_REQUEST_NULL;
    if (rank == 0) {
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        usleep(LATE_US);
    pass(1, TAG);
}

static void receive_probed(void) {
    MPI_Message message;
    if (rank == 1) {
        send(TAG);
    } else {
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(received, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    }
    pass(1, TAG);
}

static void receive_behind_probe(bool polls) {
    MPI_Status status;
    int is_there = 0;
    if (rank == 1) {
        send(TAG);
        return;
    }
    while (polls && !is_there)
        MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (!polls)
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(received, 1, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static bool communicate_with_any(const char *how) {
    if (strcmp(how, "any") == 0)
        pass(MPI_ANY_SOURCE, MPI_ANY_TAG);
    else if (strcmp(how, "later") == 0 || strcmp(how, "restarted") == 0)
        receive_later(how[0] == 'r');
    else if (strcmp(how, "behind") == 0 || strcmp(how, "turned") == 0)
        receive_behind(how[0] == 'b' ? 1 : MPI_ANY_SOURCE);
    else if (strcmp(how, "listening") == 0)
        pass(1, TAG);
    else if (strcmp(how, "mixed") == 0)
        receive_in_all_ways();
    else if (strcmp(how, "crowd") == 0)
        receive_crowd();
    else if (strcmp(how, "cancelled") == 0 || strcmp(how, "cancelled-any") == 0)
        receive_after_cancel(how[9] ? MPI_ANY_SOURCE : 1);
    else if (strcmp(how, "probed") == 0)
        receive_probed();
    else if (strcmp(how, "waits-in-probe") == 0 || strcmp(how, "polls") == 0)
        receive_behind_probe(how[0] == 'p');
    else
        return false;
    return true;
}

static void communicate(const char *how) {
    if (communicate_with_any(how))
        return;
    if (strcmp(how, "recv") == 0)
        pass(1, TAG);
    else if (strcmp(how, "many") == 0)
        for (int i = 0; i < MANY / ROUNDS; i++)
            pass(1, TAG);
    else if (strcmp(how, "sendrecv") == 0)
        MPI_Sendrecv(sent, 1, MPI_DOUBLE, !rank, TAG, received, 1, MPI_DOUBLE, !rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(how, "persistent") == 0)
        start_all();
    else if (strcmp(how, "waitall") == 0 || strcmp(how, "both") == 0)
        exchange_all(world, 0);
    else if (strcmp(how, "nobody") == 0)
        exchange_all(world, OTHERS);
    else if (rank == 1)
        MPI_Recv(received, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(how, "ssend") == 0)
        MPI_Ssend(sent, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
    else
        MPI_Send(sent, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    world = MPI_COMM_WORLD;
    if (strcmp(argv[1], "both") == 0)
        use_in_another_order();
    const bool first = strcmp(argv[1], "behind") == 0 || strcmp(argv[1], "turned") == 0;
    MPI_Request listening = MPI_REQUEST_NULL;
    if (rank == 0 && strcmp(argv[1], "listening") == 0)
        listening = receive(1, MPI_ANY_SOURCE, TAG + 1);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1 && first)
            send(TAG);
        if (rank == 1)
            usleep(LATE_US);
        communicate(argv[1]);
    }
    if (rank == 1 && strcmp(argv[1], "listening") == 0)
        send(TAG + 1);
    if (listening != MPI_REQUEST_NULL)
        MPI_Wait(&listening, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
