/* Requests in numbers: sends of many sizes that are complete at once, persistent calls that are started together, a file
 * (the first argument) and a communicator; and collectives between two groups of different sizes. */
#include <mpi.h>
#include <stdlib.h>

enum { SIZES = 40, ROUNDS = 50, PERSISTENT = 4 };

static void send_sizes(int rank) {
    static char out[SIZES][SIZES], in[SIZES][SIZES];
    MPI_Request requests[2 * SIZES];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SIZES; i++)
            MPI_Irecv(in[i], i + 1, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < SIZES; i++)
            MPI_Isend(out[i], i + 1, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, &requests[SIZES + i]);
        MPI_Waitall(2 * SIZES, requests, MPI_STATUSES_IGNORE);
    }
}

static void start_together(int rank) {
    static double out[PERSISTENT], in[PERSISTENT];
    MPI_Request requests[2 * PERSISTENT];
    for (int i = 0; i < PERSISTENT; i++) {
        MPI_Send_init(&out[i], 1, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Recv_init(&in[i], 1, MPI_DOUBLE, 1 - rank, i, MPI_COMM_WORLD, &requests[PERSISTENT + i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Startall(2 * PERSISTENT, requests);
        MPI_Waitall(2 * PERSISTENT, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 2 * PERSISTENT; i++)
        MPI_Request_free(&requests[i]);
}

static void read_and_copy(const char *path, int rank) {
    static char block[100];
    MPI_File file;
    MPI_Comm copy;
    MPI_Request requests[2];
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_File_iwrite_at(file, (MPI_Offset)rank * 100, block, 100, MPI_BYTE, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Comm_free(&copy);
    }
    MPI_File_close(&file);
}

/* Two ranks on one side, the others on the other one. Arrays have an element for each rank of the other side. */
static void exchange_sides(int rank, int ranks) {
    MPI_Comm side, between;
    const int far = rank < 2, others = far ? ranks - 2 : 2;
    MPI_Comm_split(MPI_COMM_WORLD, far, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, far ? 2 : 0, 7, &between);
    int *const counts = calloc((size_t)others * 2, sizeof *counts), *const places = counts + others;
    MPI_Datatype *const types = malloc((size_t)others * sizeof(MPI_Datatype));
    char *const data = calloc((size_t)others, 16);
    for (int i = 0; i < others; i++) {
        counts[i] = 8;
        places[i] = 8 * i;
        types[i] = MPI_BYTE;
    }
    char *const back = calloc((size_t)others, 16);
    MPI_Alltoallv(data, counts, places, MPI_BYTE, back, counts, places, MPI_BYTE, between);
    MPI_Alltoallw(data, counts, places, types, back, counts, places, types, between);
    const int root = far ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    if (far) /* Only the other side has data. */
        MPI_Gather(0, -1, MPI_DATATYPE_NULL, back, 8, MPI_BYTE, root, between);
    else
        MPI_Gather(data, 8, MPI_BYTE, 0, 0, MPI_BYTE, root, between);
    free(counts);
    free(types);
    free(data);
    free(back);
    MPI_Comm_free(&between);
    MPI_Comm_free(&side);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks == 2) {
        send_sizes(rank);
        start_together(rank);
        read_and_copy(argv[1], rank);
    } else {
        exchange_sides(rank, ranks);
    }
    MPI_Finalize();
    return 0;
}
