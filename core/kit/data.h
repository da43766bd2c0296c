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

/* A part of a buffer that was filled or is checked as one: bytes of a stream, or terms or results of a reduction from
 * element `from` of the vector on, over a range of ranks. */
struct segment {
    const unsigned char *data;
    /* Place in the buffer without gaps, once it is known (kit/changes.h). */
    long at;
    /* Bytes, or elements. */
    long length;
    unsigned stream;
    bool reduced;
    long from;
    int first, last;
};

struct segments {
    struct segment *each;
    int count, room;
};

/* A few bytes of a segment that differ in one turn: an element of a reduction, a word of other data. No bytes: nothing
 * does. */
struct change {
    long at;
    int bytes;
    unsigned char content[sizeof(double)];
};

/* Until `end_recording`, the functions below record the segments that they fill; those that check only record. */
void begin_recording(struct segments *segments);
void end_recording(void);
/* Data are checked as those of this turn; 0: unchanged data. */
void set_turn(int64_t turn);
/* What a turn changes, with the changed content or the original one. All ranks find the same. */
struct change find_change(const struct call *call, const struct segment *segment, int64_t turn);
struct change find_unchanged(const struct call *call, const struct segment *segment, int64_t turn);

/* Gives a type a gap after its last element; frees the type it is made of. */
int resize_type(MPI_Datatype spread, long extent, MPI_Datatype *type);

long count_amount_bytes(struct amount amount, long size_bytes, int ranks, int messages);

/* `stream` distinguishes data of different senders or receivers; `base` is the place of `data` in the receive buffer,
 * for the report. */
void fill_bytes(unsigned char *data, long bytes, unsigned stream);
void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch);

/* The common cases of data: the same on all ranks, or those of the rank that sends them. */
void fill_same(struct call *call);
void check_same(const struct call *call, struct mismatch *mismatch);
void fill_own(struct call *call);
void check_from(const struct call *call, int rank, struct mismatch *mismatch);

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
