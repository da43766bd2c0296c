/* Two ranks exchange messages, and one of them is 20 ms late each time. The first argument says how they do it.
 *
 * recv, sendrecv, waitall, persistent: rank 1 sends late. ssend: rank 1 receives late. eager: the same, which the sender
 * does not wait for. any: rank 1 sends late, and source and tag of
 * the receive are not given; later: of a nonblocking one. nobody: as
 * waitall, together with requests to no rank. both: as waitall, in one of
 * two communicators of the same ranks, which both ranks used first in another order. many: as recv, between more
 * messages than are kept. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 10, LATE_US = 20000, TAG = 3, OTHERS = 3, MANY = 200000 };

static double sent[2], received[2];
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

static void receive_later(void) {
    MPI_Request request;
    if (rank == 1)
        MPI_Send(sent, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    else {
        MPI_Irecv(received, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void communicate(const char *how) {
    if (strcmp(how, "recv") == 0)
        pass(1, TAG);
    else if (strcmp(how, "any") == 0)
        pass(MPI_ANY_SOURCE, MPI_ANY_TAG);
    else if (strcmp(how, "later") == 0)
        receive_later();
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
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1)
            usleep(LATE_US);
        communicate(argv[1]);
    }
    MPI_Finalize();
    return 0;
}
