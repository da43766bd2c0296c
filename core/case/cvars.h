/* cvars.c: control variables of the library, by MPI_T: what there is, and values for one case. */
#ifndef RANKBENCH_CVARS_H
#define RANKBENCH_CVARS_H

#include <stdbool.h>
#include <stdio.h>

#include "verify/outcome.h"

/* The values that variables had before, in the order in which they were set. */
struct cvars;

/* Prints all variables as one JSON list; texts of MPICH and its kin show their default, whatever is set. MPI must be initialised, since libraries register most of them there. Returns false where
 * the library has no MPI_T. */
bool list_cvars(FILE *out);
/* Sets each of `NAME=VALUE;NAME=VALUE` on this rank and reads it back. A value is a number, a text, or a name of the variable's values. Notes
 * LACKING where the library has no such variable or value, FAILED where it does not keep the value. The result is for `restore_cvars`. */
struct cvars *set_cvars(const char *text, struct outcome *outcome);
void restore_cvars(struct cvars *cvars);

#endif
