/* Whether the rows of operations are complete and agree in themselves. */
#ifndef RANKBENCH_ROWS_H
#define RANKBENCH_ROWS_H

#include "base/op.h"

/* What is wrong with a row, in one line; NULL: nothing. */
const char *find_row_fault(const struct operation *row);
/* Prints the fault of each wrong row; returns whether there is none. */
bool check_rows(void);

#endif
