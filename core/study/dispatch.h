/* Which functions a library calls for collectives on MPI_COMM_WORLD, where its tables show it. */
#ifndef RANKBENCH_DISPATCH_H
#define RANKBENCH_DISPATCH_H

#include <stdio.h>

/* Writes a record with the names of the functions; nothing where none is known. */
void write_functions(FILE *stream);

#endif
