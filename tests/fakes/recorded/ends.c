/* Calls a barrier 30 times, and ends as its argument says. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *const how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 30; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "hang") == 0) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) { /* All are beyond their last barrier soon. */
            sleep(1);
            puts("hangs");
            fflush(stdout);
        }
        pause();
    }
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    MPI_Finalize();
    return 0;
}
