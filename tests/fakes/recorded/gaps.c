/* Two ranks exchange messages of 2 KiB, and compute between; the argument says for how many microseconds. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 10000, BYTES = 2048 };

static void compute(double seconds) {
    const double until = MPI_Wtime() + seconds;
    while (MPI_Wtime() < until)
        ;
}

int main(int argc, char **argv) {
    static char sent[BYTES], received[BYTES];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double gap = 1e-6 * atof(argv[1]);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request requests[2];
        compute(gap);
        MPI_Irecv(received, BYTES, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, BYTES, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
