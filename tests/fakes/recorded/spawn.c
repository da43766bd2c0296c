/* Starts two further ranks, which make other calls than the first ones. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Comm parent, others;
    double number = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        for (int i = 0; i < 10; i++)
            MPI_Allreduce(&number, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
    } else {
        others = parent;
        for (int i = 0; i < 5; i++)
            MPI_Bcast(&number, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(others);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return 0;
}
