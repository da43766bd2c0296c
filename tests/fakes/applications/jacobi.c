/* A 2-D Jacobi solver: each step exchanges the borders of a rank's part of the grid, and every tenth adds up a residual.
 *
 * Arguments: points of the grid in each direction, steps, and microseconds by which the last rank computes longer. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UP, DOWN, LEFT, RIGHT, SIDES };

static void spin(double us) {
    const double until = MPI_Wtime() + us * 1e-6;
    while (us > 0 && MPI_Wtime() < until)
        ;
}

static double relax(int rows, int columns, const double *from, double *to) {
    double sum = 0;
    for (int i = 1; i <= rows; i++)
        for (int j = 1; j <= columns; j++) {
            const int at = i * (columns + 2) + j;
            to[at] = 0.25 * (from[at - 1] + from[at + 1] + from[at - columns - 2] + from[at + columns + 2]);
            sum += (to[at] - from[at]) * (to[at] - from[at]);
        }
    return sum;
}

int main(int count, char **words) {
    int ranks, rank, sides[2] = {0, 0}, open[2] = {0, 0}, near[SIDES];
    MPI_Comm grid;
    MPI_Datatype column;
    MPI_Init(&count, &words);
    const int points = count > 1 ? atoi(words[1]) : 256, steps = count > 2 ? atoi(words[2]) : 500;
    const double late_us = count > 3 ? atof(words[3]) : 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, open, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 0, 1, &near[UP], &near[DOWN]);
    MPI_Cart_shift(grid, 1, 1, &near[LEFT], &near[RIGHT]);
    const int rows = points / sides[0], columns = points / sides[1], width = columns + 2;
    double *from = calloc((size_t)(rows + 2) * (size_t)width, sizeof *from);
    double *to = calloc((size_t)(rows + 2) * (size_t)width, sizeof *to);
    MPI_Type_vector(rows, 1, width, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < rows + 2; i++)
        from[i * width] = to[i * width] = near[LEFT] == MPI_PROC_NULL;
    double residual = 0, began = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[2 * SIDES];
        const struct {
            double *send, *receive;
            int length;
            MPI_Datatype type;
        } border[SIDES] = {{from + width + 1, from + 1, columns, MPI_DOUBLE},
                           {from + rows * width + 1, from + (rows + 1) * width + 1, columns, MPI_DOUBLE},
                           {from + width + 1, from + width, 1, column},
                           {from + width + columns, from + width + columns + 1, 1, column}};
        for (int i = 0; i < SIDES; i++)
            MPI_Irecv(border[i].receive, border[i].length, border[i].type, near[i], i ^ 1, grid, &requests[i]);
        for (int i = 0; i < SIDES; i++)
            MPI_Isend(border[i].send, border[i].length, border[i].type, near[i], i, grid, &requests[SIDES + i]);
        MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
        double sum = relax(rows, columns, from, to);
        if (rank == ranks - 1)
            spin(late_us);
        if (step % 10 == 9)
            MPI_Allreduce(&sum, &residual, 1, MPI_DOUBLE, MPI_SUM, grid);
        double *const other = from;
        from = to;
        to = other;
    }
    const double took = MPI_Wtime() - began;
    if (rank == 0)
        printf("time per step: %.4f ms\nresidual: %.6e\n", took / steps * 1e3, residual);
    MPI_Finalize();
    return 0;
}
