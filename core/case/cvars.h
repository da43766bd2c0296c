/* Control variables of the library (MPI_T): their list, and values for one case. */
#ifndef RANKBENCH_CVARS_H
#define RANKBENCH_CVARS_H

#include <stdbool.h>
#include <stdio.h>

#include "verify/outcome.h"

/* The previous values of variables, in the order in which they were set. */
struct cvars;

/* Prints all variables as a JSON list; for texts of MPICH and its derivatives, the default. MPI must be initialised,
 * since libraries register most variables there. Returns false if the library has no MPI_T. */
bool list_cvars(FILE *out);
/* Sets each variable of `NAME=VALUE;NAME=VALUE` on this rank and reads it back. A value is a number, a text, or the
 * name of a value. Notes LACKING if the library has no such variable or value, or does not accept it. The result is for
 * `restore_cvars`. */
struct cvars *set_cvars(const char *text, struct outcome *outcome);
void restore_cvars(struct cvars *cvars);

#endif
