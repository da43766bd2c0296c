/* A program that a campaign measures: it prints a time, a residual and, if asked, does something wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    int rank, ranks;
    double term, sum;
    const char *what = count > 1 ? words[1] : "";
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    term = rank + 1;
    if (strcmp(what, "sleeps") == 0)
        usleep(50000);
    MPI_Allreduce(&term, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(what, "differs") == 0 && getenv("SOLVER_DIFFERS"))
        sum *= 1.01;
    if (strcmp(what, "fails") == 0 && rank == 0) {
        printf("input.dat: cannot be read\n");
        fflush(stdout);
        exit(3);
    }
    if (strcmp(what, "prints") == 0 && rank == 0)
        for (long i = 0; i < atol(words[2]); i++)
            printf("time of step: %s ms\n", i < atol(words[2]) / 5 || i >= atol(words[2]) * 4 / 5 ? "1.00" : "5.00");
    if (strcmp(what, "leaves") == 0)
        _exit(0);
    if (strcmp(what, "writes") == 0 && rank == 0) {
        FILE *file = fopen("state", "r");
        if (file) {
            printf("an earlier run left its state\n");
            return 4;
        }
        file = fopen("state", "w");
        fputs("state\n", file);
        fclose(file);
    }
    if (rank == 0)
        printf("time per step: 2.50 ms\nresidual: %.6f\n", sum);
    MPI_Finalize();
    return 0;
}
