/* Data of which every byte is known in advance, and the checks of received data. */
#ifndef RANKBENCH_DATA_H
#define RANKBENCH_DATA_H

#include "base/op.h"

enum { MOST_EXCERPT = 1 << 16 };

/* A part of a receive buffer without gaps. Bytes that no check compares are expected as they are. */
struct excerpt {
    long from, bytes;
    unsigned char received[MOST_EXCERPT], expected[MOST_EXCERPT];
};

/* Gives a type a gap after its last element; frees the type it is made of. */
int resize_type(MPI_Datatype spread, long extent, MPI_Datatype *type);

long count_amount_bytes(struct amount amount, long size_bytes, int ranks, int messages);

/* `stream` distinguishes data of different senders or receivers; `base` is the place of `data` in the receive buffer,
 * for the report. */
void fill_bytes(unsigned char *data, long bytes, unsigned stream);
void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch);
/* The same for data sent from place `from`, a multiple of RESEND_STEP, of what `fill_bytes` filled. */
void check_bytes_from(const unsigned char *data, long from, long bytes, unsigned stream, long base, struct mismatch *mismatch);

/* Numbers whose reduction over ranks is known for every MPI_Op of a case. `from` is the index of the first element in
 * the reduced vector, for ranks that get a part of it. */
void fill_terms(const struct call *call, unsigned char *data, long elements, long from, int rank);
void check_reduced(const struct call *call, const unsigned char *data, long elements, long from, int first_rank, int last_rank,
                   struct mismatch *mismatch);
/* The common case: all sent and received data, reduced over all ranks. */
void fill_addends(struct call *call);
void check_sums(const struct call *call, struct mismatch *mismatch);

int make_reduction(int64_t which, MPI_Op *reduction);
void free_reduction(int64_t which, MPI_Op *reduction);
bool reduces_whole_numbers_only(int64_t which);

#endif
