/* Rank 0 waits for late messages by MPI_Test and MPI_Probe; both create windows, grids, communicators and files. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 10, LATE_US = 20000, CREATED = 3, BYTES = 64 };

int main(int argc, char **argv) {
    static char data[BYTES], name[64];
    int rank, flag, periodic = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 * ROUNDS; i++) {
        if (rank == 1) {
            usleep(LATE_US);
            MPI_Send(data, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD);
        } else if (i % 2 == 0) {
            MPI_Request request;
            MPI_Irecv(data, BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD, &request);
            for (flag = 0; !flag;)
                MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        } else {
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(data, BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    snprintf(name, sizeof name, "/tmp/rankbench-tests-%d", (int)getppid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < CREATED; i++) {
        MPI_Comm grid, node;
        MPI_Win window;
        MPI_File file;
        void *memory;
        MPI_Cart_create(MPI_COMM_WORLD, 1, &(int){2}, &periodic, 0, &grid);
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
        MPI_Win_free(&window);
        MPI_Comm_free(&node);
        MPI_Comm_free(&grid);
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
        MPI_File_write_at_all(file, rank * BYTES, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Finalize();
    return 0;
}
