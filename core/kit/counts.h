/* Blocks of the ranks in one buffer: how large each is and where it lies, as calls with a v or a w in their name are reported. */
#ifndef RANKBENCH_COUNTS_H
#define RANKBENCH_COUNTS_H

#include "base/op.h"

/* What is kept in `call->state`: block i has `elements[i]` elements and lies `places[i]` elements behind the first, or
 * `byte_places[i]` bytes; all are of one type. */
struct counts {
    MPI_Datatype *types;
    int *elements;
    int *places;
    int *byte_places;
    /* The elements of the block that belongs to this rank. */
    int local_elements;
};

/* Where a block lies in what `fill` and `check` see. */
struct span {
    long at;
    long bytes;
};

extern const struct choice counts_choice;

#define COUNTED(how) CHOICES(&counts_choice), .hooks.prepare = how, .hooks.finish = finish_counts

/* `prepare` where block i belongs to rank i and every rank gets all blocks; where each block goes to one rank; and where every
 * two ranks have a block each for the other. */
int prepare_rank_counts(struct call *call);
int prepare_single_counts(struct call *call);
int prepare_pair_counts(struct call *call);
void finish_counts(struct call *call);
const char *refuse_counts(const struct call *call);

static inline const struct counts *counts_of(const struct call *call) {
    return call->state;
}

/* Calls that have no counts have equal blocks. */
struct span find_block(const struct call *call, int block);

/* Data of calls that collect the ranks' blocks: the own one, and that of every rank. */
void fill_own_block(struct call *call);
void check_all_blocks(const struct call *call, struct mismatch *mismatch);

#endif
