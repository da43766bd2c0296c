/* Functions that a library calls for collectives on MPI_COMM_WORLD, if its tables are found. */
#ifndef RANKBENCH_DISPATCH_H
#define RANKBENCH_DISPATCH_H

#include <stdio.h>

/* Writes a record with the names of the functions, if any is known. */
void write_functions(FILE *stream);

#endif
