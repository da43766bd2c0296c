/* Sizes and places of the ranks' blocks in one buffer, for calls with a v or a w in their name. */
#ifndef RANKBENCH_COUNTS_H
#define RANKBENCH_COUNTS_H

#include "kit/calls.h"

/* Stored in `call->state`: block i has `elements[i]` elements and begins `places[i]` elements or `byte_places[i]` bytes
 * after the first; all have the same type. */
struct counts {
    MPI_Datatype *types;
    int *elements;
    int *places;
    int *byte_places;
    /* The elements of the block that belongs to this rank. */
    int local_elements;
};

/* Place of a block in the data that `fill` and `check` see. */
struct span {
    long at;
    long bytes;
};

extern const struct choice counts_choice;

#define COUNTED(how) CHOICES(&counts_choice), .hooks.prepare = how, .hooks.finish = free_state

/* Hooks `prepare`: for calls where block i belongs to rank i and every rank gets all blocks; where each block goes to
 * one rank; and where each pair of ranks exchanges blocks. */
int prepare_rank_counts(struct call *call);
int prepare_single_counts(struct call *call);
int prepare_pair_counts(struct call *call);
const char *refuse_counts(const struct call *call);

static inline const struct counts *get_counts(const struct call *call) {
    return call->state;
}

/* Calls without counts have equal blocks. */
struct span find_block(const struct call *call, int block);

/* Data of calls that collect the blocks of all ranks. */
void fill_own_block(struct call *call);
void check_all_blocks(const struct call *call, struct mismatch *mismatch);

#endif
