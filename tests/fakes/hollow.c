/* Preloaded: calls that omit work which received data do not show. HOLLOW names them: `barrier` waits for nobody, `dup`
 * returns the old communicator, `synchronous` sends without waiting for the receive. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int is_hollow(const char *what) {
    const char *hollow = getenv("HOLLOW");
    return hollow && strcmp(hollow, what) == 0;
}

static MPI_Comm choose_comm(MPI_Comm comm) {
    return is_hollow("barrier") ? MPI_COMM_SELF : comm;
}

int MPI_Barrier(MPI_Comm comm) {
    return PMPI_Barrier(choose_comm(comm));
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    return PMPI_Ibarrier(choose_comm(comm), request);
}

int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request) {
    return PMPI_Barrier_init(choose_comm(comm), info, request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *new_comm) {
    *new_comm = comm;
    return is_hollow("dup") ? MPI_SUCCESS : PMPI_Comm_dup(comm, new_comm);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *new_comm, MPI_Request *request) {
    *new_comm = comm;
    return is_hollow("dup") ? PMPI_Ibarrier(MPI_COMM_SELF, request) : PMPI_Comm_idup(comm, new_comm, request);
}

#define SENT const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm
#define SEND data, count, type, to, tag, comm

int MPI_Ssend(SENT) {
    return (is_hollow("synchronous") ? PMPI_Send : PMPI_Ssend)(SEND);
}

int MPI_Issend(SENT, MPI_Request *request) {
    return (is_hollow("synchronous") ? PMPI_Isend : PMPI_Issend)(SEND, request);
}

int MPI_Ssend_init(SENT, MPI_Request *request) {
    return (is_hollow("synchronous") ? PMPI_Send_init : PMPI_Ssend_init)(SEND, request);
}
