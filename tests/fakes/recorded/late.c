/* Rank 1 computes for 20 ms before each allreduce, from when rank 0 is about to call it. */
#include <mpi.h>
#include <unistd.h>

enum { ROUNDS = 10, LATE_US = 20000 };

int main(int argc, char **argv) {
    int rank;
    double part = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0)
            MPI_Send(&part, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) {
            MPI_Recv(&part, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            usleep(LATE_US);
        }
        MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
