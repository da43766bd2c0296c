/* Four threads of each rank exchange 500 messages with their counterparts at the same time. */
#include <mpi.h>
#include <pthread.h>

enum { THREADS = 4, MESSAGES = 500 };

static int rank;

static void *exchange(void *number) {
    const int tag = (int)(long)number;
    for (int i = 0; i < MESSAGES; i++) {
        int out = i, in = -1;
        MPI_Request request;
        MPI_Isend(&out, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &request);
        MPI_Recv(&in, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, exchange, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    MPI_Finalize();
    return 0;
}
