/* pingpong: two ranks send a message to and fro. pass: rank 0 computes for 20 ms, and each rank passes its message on. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

enum { PINGPONGS = 20000, ROUNDS = 10, LATE_US = 20000 };

static void pingpong(int rank) {
    int word = 0;
    for (int i = 0; i < PINGPONGS; i++) {
        if (rank == 0)
            MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

static void pass(int rank, int ranks) {
    int word = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            usleep(LATE_US);
        else
            MPI_Recv(&word, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank + 1 < ranks)
            MPI_Send(&word, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(argv[1], "pingpong") == 0)
        pingpong(rank);
    else
        pass(rank, ranks);
    MPI_Finalize();
    return 0;
}
