// Transposes a matrix again and again: ranks form a grid, and those of each row and each column exchange blocks, whose
// sizes differ. Arguments: rows of the matrix for each rank, and how often.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <numeric>
#include <vector>

static void exchange(MPI_Comm group, std::vector<double> &from, std::vector<double> &to, int length) {
    int ranks, rank;
    MPI_Comm_size(group, &ranks);
    MPI_Comm_rank(group, &rank);
    std::vector<int> counts(ranks), received(ranks), begins(ranks), places(ranks);
    for (int i = 0; i < ranks; i++) {
        counts[i] = length + i - rank;
        received[i] = length + rank - i;
    }
    std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
    std::exclusive_scan(received.begin(), received.end(), places.begin(), 0);
    MPI_Alltoallv(from.data(), counts.data(), begins.data(), MPI_DOUBLE, to.data(), received.data(), places.data(), MPI_DOUBLE,
                  group);
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    const int length = count > 1 ? std::atoi(words[1]) : 2000, steps = count > 2 ? std::atoi(words[2]) : 500;
    int ranks, rank;
    MPI_Comm row, column;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int side = ranks >= 4 ? 2 : ranks;
    MPI_Comm_split(MPI_COMM_WORLD, rank / side, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % side, rank, &column);
    std::vector<double> from((length + ranks) * ranks, rank), to(from.size());
    const double began = MPI_Wtime();
    for (int step = 0; step < steps; step++) {
        exchange(row, from, to, length);
        for (auto &value : to)
            value = 0.5 * value + 1;
        exchange(column, to, from, length);
    }
    const double took = MPI_Wtime() - began;
    double sum = std::accumulate(from.begin(), from.begin() + length - ranks, 0.0), total = 0;
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("time per step: %.4f ms\nsum: %.6e\n", took / steps * 1e3, total);
    MPI_Finalize();
}
