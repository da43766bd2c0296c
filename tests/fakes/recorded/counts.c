/* Makes calls whose number and size are known, for tests of the recorder. */
#include <mpi.h>
#include <stdlib.h>

static double numbers[4096], others[4096];
static int rank, ranks;

static void call_collectives(MPI_Comm part) {
    int counts[64], places[64];
    for (int i = 0; i < ranks; i++) {
        counts[i] = 3;
        places[i] = 3 * i;
    }
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(numbers, others, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++)
        MPI_Bcast(numbers, 256, MPI_INT, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 7; i++)
        MPI_Barrier(part);
    for (int i = 0; i < 11; i++)
        MPI_Gather(rank ? (void *)numbers : MPI_IN_PLACE, rank ? 5 : 0, MPI_DOUBLE, others, 5, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 13; i++)
        MPI_Alltoallv(numbers, counts, places, MPI_DOUBLE, others, counts, places, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void call_partners(void) {
    const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    MPI_Request requests[2], persistent;
    MPI_Datatype column;
    for (int i = 0; i < 20; i++) {
        MPI_Irecv(others, 32, MPI_INT, last, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(numbers, 32, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_vector(10, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < 9; i++)
        MPI_Sendrecv(numbers, 1, column, next, 2, others, 1, column, last, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++) {
        int position = 0;
        MPI_Pack(numbers, 1, column, others, (int)sizeof others, &position, MPI_COMM_WORLD);
        position = 0;
        MPI_Unpack(others, (int)sizeof others, &position, numbers, 10, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    MPI_Type_free(&column);
    MPI_Send_init(numbers, 16, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &persistent);
    for (int i = 0; i < 5; i++) {
        MPI_Start(&persistent);
        MPI_Recv(others, 16, MPI_DOUBLE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&persistent);
}

static void call_one_sided(void) {
    MPI_Win window;
    MPI_Win_create(others, sizeof others, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 6; i++) {
        MPI_Put(numbers, 4, MPI_DOUBLE, (rank + 1) % ranks, 0, 4, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

int main(int argc, char **argv) {
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    call_collectives(part);
    call_partners();
    call_one_sided();
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}
