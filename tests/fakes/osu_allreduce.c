/* Prints what OSU's program of this name prints, by a loop of its own: what stands in its place where OSU is not. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lines of OSU 7.0's help about its options. */
__attribute__((used)) static const char help[] =
    "  -m, --message-size          [MIN:]MAX  set the minimum and/or the maximum message size to MIN and/or MAX\n"
    "  -i, --iterations ITER       set iterations per message size to ITER (default 1000 for small\n";

static double mean_us(float *send, float *receive, int count, int calls) {
    double spent = 0;
    for (int call = 0; call < calls; call++) {
        double began = MPI_Wtime();
        MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        spent += MPI_Wtime() - began;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return spent / calls * 1e6;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, calls = 100;
    long least = 4, most = 1 << 20;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "-i") == 0)
            calls = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-m") == 0)
            sscanf(argv[i + 1], "%ld:%ld", &least, &most);
    }
    float *send = calloc(1, most), *receive = calloc(1, most);
    if (rank == 0)
        printf("\n# OSU MPI Allreduce Latency Test v7.0\n# Size       Avg Latency(us)\n");
    for (long size = least; size <= most; size *= 2) {
        double local = mean_us(send, receive, (int)(size / sizeof(float)), calls), all = 0;
        MPI_Reduce(&local, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%-10ld%22.2f\n", size, all / ranks);
    }
    free(send);
    free(receive);
    return MPI_Finalize();
}
