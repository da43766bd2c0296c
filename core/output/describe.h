/* What the core can time, as JSON. */
#ifndef RANKBENCH_DESCRIBE_H
#define RANKBENCH_DESCRIBE_H

#include <stdio.h>

void describe(FILE *out);

#endif
