/* Calls that fail and return, with results that were never set; the program goes on as it does without a recorder. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { GARBAGE = 0x5a, ROUNDS = 20 };

int main(int argc, char **argv) {
    int rank, index = 1 << 28, done = 1 << 28, flag = 1 << 28, indices[1] = {1 << 28}, data = 0;
    MPI_Comm parts, none = MPI_COMM_NULL;
    MPI_Request request;
    MPI_Status status;
    memset(&parts, GARBAGE, sizeof parts);
    memset(&request, GARBAGE, sizeof request);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &parts) == MPI_SUCCESS) /* Some libraries take any number. */
        MPI_Comm_free(&parts);
    MPI_Send(&data, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD);
    MPI_Send(&data, 1, MPI_INT, 0, 0, none);
    MPI_Isend(&data, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD, &request);
    MPI_Bcast(&data, -1, MPI_INT, 0, MPI_COMM_WORLD);
    request = MPI_REQUEST_NULL;
    MPI_Waitany(-1, &request, &index, &status);
    MPI_Waitsome(-1, &request, &done, indices, &status);
    MPI_Testany(-1, &request, &index, &flag, &status);
    MPI_Testsome(-1, &request, &done, indices, &status);
    for (int i = 0; i < ROUNDS; i++) { /* A message that is longer than its receive. */
        const int both[2] = {0, 0}, other = 1 - rank;
        MPI_Irecv(&data, 1, MPI_INT, other, i, MPI_COMM_WORLD, &request);
        MPI_Send(both, 2, MPI_INT, other, i, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
    }
    for (int i = 0; i < ROUNDS; i++)
        MPI_Allreduce(MPI_IN_PLACE, &data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts("went on");
    MPI_Finalize();
    return 0;
}
