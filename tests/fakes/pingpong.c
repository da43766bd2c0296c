/* An 8-byte ping-pong as anyone would write it by hand: the clock is read once a thousand round trips, and half of what one
 * takes on average is printed. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { WARM_UP = 20, BATCHES = 200, TRIPS = 1000 };

static double half_ns[WARM_UP + BATCHES];

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * now.tv_sec + now.tv_nsec;
}

int main(int argc, char **argv) {
    char data[8] = "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WARM_UP + BATCHES; i++) {
        const double before = now_ns();
        for (int trip = 0; trip < TRIPS; trip++)
            if (rank == 0) {
                MPI_Send(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
        half_ns[i] = (now_ns() - before) / 2 / TRIPS;
    }
    for (int i = WARM_UP; rank == 0 && i < WARM_UP + BATCHES; i++)
        printf("%.1f\n", half_ns[i]);
    MPI_Finalize();
}
