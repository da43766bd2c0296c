/* Special numbers in reductions: zeros with a sign, denormal and infinite numbers, NaN; of whole numbers the least and the
 * largest, and truth values other than 1. For single calls: results are compared by their class where the standards leave
 * their bits open. */
#ifndef RANKBENCH_SPECIAL_H
#define RANKBENCH_SPECIAL_H

#include "base/op.h"

/* How two numbers are reduced to one. */
typedef double reduce_function(double a, double b);

/* Elements have special numbers until this is called with 0. Other values select which element has which number. */
void use_special_numbers(int selection);
bool uses_special_numbers(void);
/* Number of different special numbers of a case; 0: none. Calls on fewer elements need several selections. */
int count_special_numbers(const struct call *call);

/* As fill_terms and check_reduced. */
void fill_special(const struct call *call, unsigned char *data, long elements, long from, int rank);
void check_special(const struct call *call, reduce_function *merge, const unsigned char *data, long elements, long from,
                   int first_rank, int last_rank, struct mismatch *mismatch);

#endif
