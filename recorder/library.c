/* The functions and constants of the library that is measured, found by name. */
#include "recorder.h"
#include "startup.h"

struct library library;

void resolve_library(void) {
#define FIND_FUNCTION(name) library.name = (__typeof__(library.name))(intptr_t)find_next("PMPI_" #name);
    LIBRARY_CALLS(FIND_FUNCTION)
    HANDLE_CALLS(FIND_FUNCTION)
#ifdef OPEN_MPI
    library.world = find_constant("ompi_mpi_comm_world");
    library.byte = find_constant("ompi_mpi_byte");
    library.no_info = find_constant("ompi_mpi_info_null");
    library.no_communicator = find_constant("ompi_mpi_comm_null");
    library.in_place = find_constant("mpi_fortran_in_place_");
#else
    library.world = MPI_COMM_WORLD;
    library.byte = MPI_BYTE;
    library.no_info = MPI_INFO_NULL;
    library.no_communicator = MPI_COMM_NULL;
#endif
}
