/* Data that can be predicted byte by byte, and the checks of what arrived. */
#ifndef RANKBENCH_DATA_H
#define RANKBENCH_DATA_H

#include "base/op.h"

/* A type with gaps after its last element, as `make` needs it; frees what it is made of. */
int resize_type(MPI_Datatype spread, long extent, MPI_Datatype *type);

long count_amount_bytes(struct amount amount, long size_bytes, int ranks, int messages);

/* Data whose every byte can be predicted. `stream` distinguishes what comes from different ranks or goes to different ones;
 * `base` is where in the receive buffer `data` begins, for the report. */
void fill_bytes(unsigned char *data, long bytes, unsigned stream);
void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch);
/* Data that were sent from a place, a multiple of RESEND_STEP, in what `fill_bytes` filled. */
void check_bytes_from(const unsigned char *data, long from, long bytes, unsigned stream, long base, struct mismatch *mismatch);

/* Numbers whose every reduction over ranks can be predicted, whatever the case's MPI_Op is. `from` is the index of the first
 * element within the whole vector that is reduced, for ranks that get only a part of it. */
void fill_terms(const struct call *call, unsigned char *data, long elements, long from, int rank);
void check_reduced(const struct call *call, const unsigned char *data, long elements, long from, int first_rank, int last_rank,
                   struct mismatch *mismatch);
/* The usual: all that a rank sends, and all that it receives, reduced over all ranks. */
void fill_addends(struct call *call);
void check_sums(const struct call *call, struct mismatch *mismatch);

int make_reduction(int64_t which, MPI_Op *reduction);
void free_reduction(int64_t which, MPI_Op *reduction);
bool reduces_whole_numbers_only(int64_t which);

#endif
