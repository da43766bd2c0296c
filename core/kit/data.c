/* Data of which every byte is known in advance, and the checks of received data. */
#include "kit/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "base/core.h"
#include "base/numbers.h"
#include "kit/special.h"

long count_amount_bytes(struct amount amount, long size_bytes, int ranks, int messages) {
    return size_bytes * (amount.base + (long)amount.each * ranks) * (amount.per_message ? messages : 1);
}

int resize_type(MPI_Datatype spread, long extent, MPI_Datatype *type) {
    const int code = MPI_Type_create_resized(spread, 0, extent, type);
    MPI_Type_free(&spread);
    return code;
}

enum { WORD_BYTES = sizeof(uint32_t), BLOCK_BYTES = 1024 * WORD_BYTES };
static const uint32_t NUMBER_FACTOR = 2654435761u;

/* Filling and checking long buffers takes a good part of a launch; with instructions for eight words at a time, a tenth
 * of that. Sanitizers are not initialised yet when the loader chooses between the versions. */
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define WITH_WIDE_INSTRUCTIONS __attribute__((target_clones("avx2", "default")))
#else
#define WITH_WIDE_INSTRUCTIONS
#endif

/* Seed of a word, from its number and its stream. */
static uint32_t make_seed(uint64_t number, unsigned stream) {
    return (uint32_t)number * NUMBER_FACTOR + (uint32_t)(number >> 32) * 3628273133u + stream * 2246822519u + 374761393u;
}

/* Mixes the seed so that a shifted, exchanged or stale block differs in most of its bytes. */
static uint32_t mix(uint32_t x) {
    x ^= x >> 15;
    x *= 3266489917u;
    return x ^ x >> 16;
}

static uint32_t make_word(uint64_t number, unsigned stream) {
    return mix(make_seed(number, stream));
}

/* Fills words whose numbers have the same upper half. */
static WITH_WIDE_INSTRUCTIONS void fill_words(unsigned char *data, uint32_t seed, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t mixed = mix(seed + (uint32_t)i * NUMBER_FACTOR);
        memcpy(data + i * WORD_BYTES, &mixed, WORD_BYTES);
    }
}

/* `from` is a multiple of a word. */
static void fill_from(unsigned char *data, long from, long bytes, unsigned stream) {
    const uint64_t end = (uint64_t)(from + bytes) / WORD_BYTES;
    uint64_t number = (uint64_t)from / WORD_BYTES;
    while (number < end) {
        const uint64_t same_half = ((number >> 32) + 1) << 32, next = end < same_half ? end : same_half;
        fill_words(data + (number * WORD_BYTES - (uint64_t)from), make_seed(number, stream), next - number);
        number = next;
    }
    const uint32_t last = make_word(end, stream);
    memcpy(data + (end * WORD_BYTES - (uint64_t)from), &last, (size_t)(bytes % (long)WORD_BYTES));
}

/* --- what changes from turn to turn --- */

/* Numbers of words of changed data, far from those of other data. */
static const uint64_t FAR = UINT64_C(1) << 63;
static const double UNIT = 0x1p-53;

static struct segments *recording;
static int64_t present_turn;
static const struct change NO_CHANGE = {.bytes = 0};

void begin_recording(struct segments *segments) {
    segments->count = 0;
    recording = segments;
}

void end_recording(void) {
    recording = NULL;
}

void set_turn(int64_t turn) {
    present_turn = turn;
}

static void record(struct segment segment) {
    if (segment.length <= 0)
        return;
    if (recording->count == recording->room) {
        struct segment *const old = recording->each;
        recording->room = 2 * recording->room + 8;
        recording->each = obtain_memory(sizeof *old * (size_t)recording->room);
        if (old)
            memcpy(recording->each, old, sizeof *old * (size_t)recording->count);
        free(old);
    }
    recording->each[recording->count++] = segment;
}

/* The unit that a turn changes: places of consecutive turns are a golden section of all apart. */
static long find_changed_unit(int64_t turn, unsigned stream, long units) {
    const uint64_t x = (uint64_t)turn * 0x9e3779b97f4a7c15u + (uint64_t)stream * 0xd1b54a32d192ed03u;
    return (long)((double)(x >> 11) * UNIT * (double)units);
}

/* The last word of a stream may be a part of one. */
static struct change find_changed_word(int64_t turn, unsigned stream, long bytes) {
    const long unit = find_changed_unit(turn, stream, (bytes + WORD_BYTES - 1) / WORD_BYTES), at = unit * WORD_BYTES;
    struct change change = {.at = at, .bytes = (int)min(WORD_BYTES, bytes - at)};
    const uint32_t word = make_word(FAR | (uint64_t)turn, stream);
    memcpy(change.content, &word, sizeof word);
    return change;
}

void fill_bytes(unsigned char *data, long bytes, unsigned stream) {
    fill_from(data, 0, bytes, stream);
    if (recording)
        record((struct segment){.data = data, .length = bytes, .stream = stream});
}

static unsigned char make_byte(long position, unsigned stream) {
    unsigned char bytes[WORD_BYTES];
    fill_from(bytes, position - position % WORD_BYTES, WORD_BYTES, stream);
    return bytes[position % WORD_BYTES];
}

static void compare(unsigned char actual, unsigned char expected, long offset, struct mismatch *mismatch) {
    if (actual == expected)
        return;
    if (mismatch->wrong_bytes++ == 0) {
        mismatch->offset = offset;
        mismatch->expected = expected;
        mismatch->actual = actual;
    }
}

static void copy_expected(struct excerpt *excerpt, const unsigned char *expected, long bytes, long offset) {
    const long first = offset > excerpt->from ? offset : excerpt->from;
    const long end = min(offset + bytes, excerpt->from + excerpt->bytes);
    if (first < end)
        memcpy(excerpt->expected + (first - excerpt->from), expected + (first - offset), (size_t)(end - first));
}

/* Nearly all data are right. */
static void compare_all(const unsigned char *actual, const unsigned char *expected, long bytes, long offset,
                        struct mismatch *mismatch) {
    if (mismatch->excerpt)
        copy_expected(mismatch->excerpt, expected, bytes, offset);
    if (memcmp(actual, expected, (size_t)bytes) != 0)
        for (long i = 0; i < bytes; i++)
            compare(actual[i], expected[i], offset + i, mismatch);
}

/* Writes the part of a change that lies within a block of expected data, which begins `from` bytes after the first. */
static void put_change(const struct change *change, unsigned char *expected, long from, long bytes) {
    for (long i = 0; i < change->bytes; i++)
        if (change->at + i >= from && change->at + i < from + bytes)
            expected[change->at + i - from] = change->content[i];
}

void check_bytes(const unsigned char *data, long bytes, unsigned stream, long base, struct mismatch *mismatch) {
    unsigned char expected[BLOCK_BYTES];
    if (recording) {
        record((struct segment){.data = data, .length = bytes, .stream = stream});
        return;
    }
    const struct change change = present_turn && bytes > 0 ? find_changed_word(present_turn, stream, bytes) : NO_CHANGE;
    for (long at = 0; at < bytes; at += BLOCK_BYTES) {
        const long block_bytes = min(BLOCK_BYTES, bytes - at);
        fill_from(expected, at, block_bytes, stream);
        put_change(&change, expected, at, block_bytes);
        compare_all(data + at, expected, block_bytes, base + at, mismatch);
    }
}

void fill_same(struct call *call) {
    fill_bytes(call->buffers.send, call->buffers.send_bytes, call->seed);
}

void check_same(const struct call *call, struct mismatch *mismatch) {
    check_from(call, 0, mismatch);
}

void fill_own(struct call *call) {
    fill_bytes(call->buffers.send, call->buffers.send_bytes, call->seed + (unsigned)call->peers.rank);
}

void check_from(const struct call *call, int rank, struct mismatch *mismatch) {
    check_bytes(call->buffers.receive, call->buffers.receive_bytes, call->seed + (unsigned)rank, 0, mismatch);
}

/* --- reductions --- */

/* Random data for a term: 64 bits, a byte, the largest number of bits of the term, and whether it may be a fraction. */
struct draw {
    uint64_t bits;
    int x;
    int width;
    bool fractions;
};

/* Every other number is negative; none is a zero with a sign. */
static double set_sign(uint64_t number, bool negative) {
    return negative ? -(double)(number + 1) : (double)number;
}

/* The sum of all terms is exact in any order. A term has as many bits as this allows after the number of its block is
 * added. */
static double make_wide_term(struct draw draw) {
    return set_sign(draw.bits >> (64 - draw.width), draw.bits & 1);
}
/* Few terms of a product are not 1, and few terms of a logical `and` are false. */
static double make_product_term(struct draw draw) {
    const double terms[] = {2, -1, draw.fractions ? 0.5 : -1};
    return draw.x % 64 < LENGTH(terms) ? terms[draw.x % 64] : 1;
}
static double make_bits(struct draw draw) {
    return (int32_t)(draw.bits >> 32);
}
static double make_map(struct draw draw) {
    return draw.bits >> 32 | 1;
}
static double make_rarely_false(struct draw draw) {
    return draw.x % 8 != 0;
}
static double make_rarely_true(struct draw draw) {
    return draw.x % 8 == 0;
}
static double make_truth(struct draw draw) {
    return draw.x & 1;
}
static double make_all_but_one_bit(struct draw draw) {
    return (int32_t)~(UINT32_C(1) << draw.x % 32);
}
static double make_one_bit(struct draw draw) {
    return (int32_t)(UINT32_C(1) << draw.x % 32);
}

static double add(double a, double b) {
    return a + b;
}
static double multiply(double a, double b) {
    return a * b;
}
static double choose_least(double a, double b) {
    return a < b ? a : b;
}
static double choose_largest(double a, double b) {
    return a > b ? a : b;
}
static double combine_and(double a, double b) {
    return a != 0 && b != 0;
}
static double combine_or(double a, double b) {
    return a != 0 || b != 0;
}
static double combine_xor(double a, double b) {
    return (a != 0) != (b != 0);
}
static double combine_bits_and(double a, double b) {
    return (int)a & (int)b;
}
static double combine_bits_or(double a, double b) {
    return (int)a | (int)b;
}
static double combine_bits_xor(double a, double b) {
    return (int)a ^ (int)b;
}

/* Maps x -> a x + b modulo 2^16, of which one follows the other: the order matters. The lower half is a, which is odd, so
 * that no map forgets those before it. */
static uint32_t follow(uint32_t first, uint32_t second) {
    const uint32_t factor = second & 0xffff, sum = (first >> 16) * factor + (second >> 16);
    return sum << 16 | ((first & 0xffff) * factor & 0xffff);
}
static double combine_maps(double a, double b) {
    return follow((uint32_t)a, (uint32_t)b);
}

/* How a term depends on the number of its block of PERIOD elements: not at all; or the number is added to each term,
 * and is in the result once per term, or once. */
enum growth { SAME_IN_ALL_BLOCKS, ADDED_BY_EACH, ADDED_ONCE };

enum { WORD_BITS = 32 };

/* In a changed element one rank, another one in each turn, contributes a number below 2^bits that differs from turn to
 * turn, and every other rank the neutral element. Where terms grow with the number of their block, all contribute one
 * number and that rank a second one besides. */
static const double CHANGED_UNIT = 0x1p-11;
static const struct reduction {
    double (*term)(struct draw draw);
    double (*merge)(double a, double b);
    bool integers_only;
    enum growth growth;
    int neutral, bits;
} reductions[] = {
    {make_wide_term, add, false, ADDED_BY_EACH, 0, 0},
    {make_product_term, multiply, false, SAME_IN_ALL_BLOCKS, 1, 20},
    {make_wide_term, choose_least, false, ADDED_ONCE, 0, 0},
    {make_wide_term, choose_largest, false, ADDED_ONCE, 0, 0},
    {make_rarely_false, combine_and, true, SAME_IN_ALL_BLOCKS, 1, 1},
    {make_rarely_true, combine_or, true, SAME_IN_ALL_BLOCKS, 0, 1},
    {make_truth, combine_xor, true, SAME_IN_ALL_BLOCKS, 0, 1},
    {make_all_but_one_bit, combine_bits_and, true, SAME_IN_ALL_BLOCKS, -1, WORD_BITS},
    {make_one_bit, combine_bits_or, true, SAME_IN_ALL_BLOCKS, 0, WORD_BITS},
    {make_bits, combine_bits_xor, true, SAME_IN_ALL_BLOCKS, 0, WORD_BITS},
    {make_wide_term, add, false, ADDED_BY_EACH, 0, 0},
    {make_map, combine_maps, false, SAME_IN_ALL_BLOCKS, 1, WORD_BITS},
};

static void add_up(void *in, void *inout, int *count, MPI_Datatype *type) {
    for (int i = 0; i < *count; i++)
        if (*type == MPI_FLOAT)
            ((float *)inout)[i] += ((float *)in)[i];
        else if (*type == MPI_DOUBLE)
            ((double *)inout)[i] += ((double *)in)[i];
        else
            ((int *)inout)[i] += ((int *)in)[i];
}

static void follow_all(void *in, void *inout, int *count, MPI_Datatype *type) {
    const int words = *count * (*type == MPI_DOUBLE ? 2 : 1);
    for (int i = 0; i < words; i++)
        ((uint32_t *)inout)[i] = follow(((uint32_t *)in)[i], ((uint32_t *)inout)[i]);
}

int make_reduction(int64_t which, MPI_Op *reduction) {
    const MPI_Op known[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
    *reduction = which < LENGTH(known) ? known[which] : MPI_OP_NULL;
    if (which < LENGTH(known))
        return MPI_SUCCESS;
    return which == REDUCTION_USER ? MPI_Op_create(add_up, 1, reduction) : MPI_Op_create(follow_all, 0, reduction);
}

void free_reduction(int64_t which, MPI_Op *reduction) {
    if (is_user_defined(which) && *reduction != MPI_OP_NULL)
        MPI_Op_free(reduction);
}

bool reduces_whole_numbers_only(int64_t which) {
    return reductions[which].integers_only;
}

static const struct reduction *find_reduction(const struct call *call) {
    return &reductions[read_choice(call, &reduction_choice)];
}

/* Terms are drawn for PERIOD elements, so that few results must be computed, and differ between blocks by a number that
 * is the same for all ranks. Terms differ between ranks, so that a rank counted twice in place of another is detected. */
enum { PERIOD = 251, BLOCK_FACTOR = 0x2545f491 };

/* The type represents every integer of these bits exactly. */
static int count_exact_bits(const struct datatype *datatype) {
    return datatype->basic == MPI_FLOAT ? 24 : datatype->basic == MPI_DOUBLE ? 53 : 31;
}

static bool is_whole(const struct call *call) {
    return call->message.datatype->basic == MPI_INT;
}

/* Numbers of a floating-point type are multiples of this power of two, so that half of their bits are a fraction. Products
 * would need another one for each number of ranks. */
static double find_unit(const struct call *call) {
    if (is_whole(call) || find_reduction(call)->growth == SAME_IN_ALL_BLOCKS)
        return 1;
    return call->message.datatype->basic == MPI_FLOAT ? 0x1p-13 : 0x1p-27;
}

/* Bits of the size of a term, and of the number added to it. Up to one term more than ranks may be added: that of the
 * target before. */
static int count_term_bits(const struct call *call) {
    int bits = count_exact_bits(call->message.datatype) - 1;
    for (long terms = 1; find_reduction(call)->growth == ADDED_BY_EACH && terms < call->peers.ranks + 1; terms *= 2)
        bits--;
    return bits;
}

static double make_term(const struct call *call, int rank, long position) {
    const unsigned stream = call->seed + (unsigned)rank;
    const long place = position % PERIOD;
    const uint64_t number = 2 * (uint64_t)place, high = make_word(number, stream), low = make_word(number + 1, stream);
    return find_reduction(call)->term(
        (struct draw){high << 32 | low, make_byte(place, stream), count_term_bits(call), !is_whole(call)});
}

/* Numbers of consecutive blocks differ in many bits. An odd factor gives distinct numbers, as long as there are enough
 * of them. */
static double find_block_number(const struct call *call, long block) {
    const uint64_t number = (uint64_t)block * BLOCK_FACTOR;
    if (find_reduction(call)->growth == SAME_IN_ALL_BLOCKS)
        return 0;
    return (double)(number & ((UINT64_C(1) << count_term_bits(call)) - 1));
}

/* Maps are not numbers of the type: each word of an element holds one. */
static void store_maps(unsigned char *place, const double *values, int words, long count) {
    for (long i = 0; i < count * words; i++)
        memcpy(place + i * WORD_BYTES, &(uint32_t){(uint32_t)values[i / words]}, WORD_BYTES);
}

/* Stores values, each plus `more`, as elements of the type. */
static void store_numbers(const struct call *call, unsigned char *place, const double *values, double more, long count) {
    const MPI_Datatype basic = call->message.datatype->basic;
    const double unit = find_unit(call);
    if (find_reduction(call)->merge == combine_maps) {
        store_maps(place, values, call->message.datatype->bytes / WORD_BYTES, count);
        return;
    }
    for (long i = 0; i < count; i++)
        if (basic == MPI_FLOAT)
            memcpy(place + i * (long)sizeof(float), &(float){(float)((values[i] + more) * unit)}, sizeof(float));
        else if (basic == MPI_DOUBLE)
            memcpy(place + i * (long)sizeof(double), &(double){(values[i] + more) * unit}, sizeof(double));
        else
            memcpy(place + i * (long)sizeof(int), &(int){(int)(values[i] + more)}, sizeof(int));
}

/* Elements from a position to the end of its block. */
static long count_to_block_end(long position, long elements) {
    return min(PERIOD - position % PERIOD, elements);
}

void fill_terms(const struct call *call, unsigned char *data, long elements, long from, int rank) {
    double terms[PERIOD];
    long block_bytes;
    if (uses_special_numbers()) {
        fill_special(call, data, elements, from, rank);
        return;
    }
    for (long i = 0; i < min(PERIOD, elements); i++)
        terms[(from + i) % PERIOD] = make_term(call, rank, from + i);
    for (long i = 0; i < elements; i += block_bytes) {
        const long at = from + i;
        block_bytes = count_to_block_end(at, elements - i);
        store_numbers(call, data + i * call->message.datatype->bytes, terms + at % PERIOD, find_block_number(call, at / PERIOD),
                      block_bytes);
    }
    if (recording)
        record((struct segment){.data = data, .length = elements, .from = from, .reduced = true, .first = rank, .last = rank});
}

static double reduce_terms(const struct call *call, long position, int first_rank, int last_rank) {
    double value = make_term(call, first_rank, position);
    for (int rank = first_rank + 1; rank <= last_rank; rank++)
        value = find_reduction(call)->merge(value, make_term(call, rank, position));
    return value;
}

/* The term of a changed element that is the same in all blocks. */
static double make_changed_term(const struct call *call, uint32_t drawn) {
    const struct reduction *reduction = find_reduction(call);
    if (reduction->merge == combine_maps)
        return drawn | 1;
    if (reduction->bits == WORD_BITS)
        return (int32_t)drawn;
    const uint32_t size = drawn >> (WORD_BITS - reduction->bits);
    return reduction->integers_only ? size : set_sign(size, drawn & 1) * (is_whole(call) ? 1 : CHANGED_UNIT);
}

/* The result of a changed element over a range of ranks; of one rank: its term. */
static double reduce_changed(const struct call *call, int64_t turn, int first_rank, int last_rank) {
    const struct reduction *reduction = find_reduction(call);
    const uint64_t number = FAR | 2 * (uint64_t)turn, chosen = (uint64_t)turn % (uint64_t)call->peers.ranks;
    const int ranks = last_rank - first_rank + 1;
    const bool contributes = (uint64_t)first_rank <= chosen && chosen <= (uint64_t)last_rank;
    const uint32_t drawn = make_word(number, call->seed);
    if (reduction->growth == SAME_IN_ALL_BLOCKS) {
        const double term = make_changed_term(call, drawn);
        return !contributes ? reduction->neutral : ranks == 1 ? term : reduction->merge(term, reduction->neutral);
    }
    const int shift = WORD_BITS - min(count_term_bits(call), WORD_BITS - 1);
    const uint32_t other = make_word(number + 1, call->seed);
    const double common = set_sign(other >> shift, other & 1), more = contributes ? set_sign(drawn >> shift, drawn & 1) : 0;
    if (reduction->growth == ADDED_BY_EACH)
        return ranks * common + more;
    return ranks == 1 ? common + more : reduction->merge(common, common + more);
}

/* Which element changes is counted in the whole vector, of which some ranks receive a part. */
struct change find_change(const struct call *call, const struct segment *segment, int64_t turn) {
    if (!segment->reduced)
        return find_changed_word(turn, segment->stream, segment->length);
    const int width = call->message.datatype->bytes;
    const long unit = find_changed_unit(turn, call->seed, call->buffers.send_bytes / width) - segment->from;
    if (unit < 0 || unit >= segment->length)
        return NO_CHANGE;
    struct change change = {.at = unit * width, .bytes = width};
    const double value = reduce_changed(call, turn, segment->first, segment->last);
    store_numbers(call, change.content, &value, 0, 1);
    return change;
}

/* What is there unless a turn changes it. */
static void make_unchanged(const struct call *call, const struct segment *segment, struct change *change) {
    if (!segment->reduced) {
        fill_from(change->content, change->at, change->bytes, segment->stream);
        return;
    }
    const struct reduction *reduction = find_reduction(call);
    const long position = segment->from + change->at / call->message.datatype->bytes;
    const int times = reduction->growth == ADDED_BY_EACH ? segment->last - segment->first + 1 : 1;
    const double value = reduce_terms(call, position, segment->first, segment->last);
    store_numbers(call, change->content, &value, times * find_block_number(call, position / PERIOD), 1);
}

struct change find_unchanged(const struct call *call, const struct segment *segment, int64_t turn) {
    struct change change = find_change(call, segment, turn);
    if (change.bytes > 0)
        make_unchanged(call, segment, &change);
    return change;
}

void check_reduced(const struct call *call, const unsigned char *data, long elements, long from, int first_rank, int last_rank,
                   struct mismatch *mismatch) {
    const int width = call->message.datatype->bytes;
    const int times = find_reduction(call)->growth == ADDED_BY_EACH ? last_rank - first_rank + 1 : 1;
    const long base = data - call->buffers.receive;
    const struct segment segment = {
        .data = data, .length = elements, .from = from, .reduced = true, .first = first_rank, .last = last_rank};
    if (recording) {
        record(segment);
        return;
    }
    if (uses_special_numbers()) {
        check_special(call, find_reduction(call)->merge, data, elements, from, first_rank, last_rank, mismatch);
        return;
    }
    const struct change change = present_turn ? find_change(call, &segment, present_turn) : NO_CHANGE;
    double values[PERIOD];
    unsigned char expected[PERIOD * sizeof(double)];
    long block_bytes;
    for (long i = 0; i < min(PERIOD, elements); i++)
        values[(from + i) % PERIOD] = reduce_terms(call, from + i, first_rank, last_rank);
    for (long i = 0; i < elements; i += block_bytes) {
        const long at = from + i;
        block_bytes = count_to_block_end(at, elements - i);
        store_numbers(call, expected, values + at % PERIOD, times * find_block_number(call, at / PERIOD), block_bytes);
        put_change(&change, expected, i * width, block_bytes * width);
        compare_all(data + i * width, expected, block_bytes * width, base + i * width, mismatch);
    }
}

void fill_addends(struct call *call) {
    fill_terms(call, call->buffers.send, call->buffers.send_bytes / call->message.datatype->bytes, 0, call->peers.rank);
}

void check_sums(const struct call *call, struct mismatch *mismatch) {
    check_reduced(call, call->buffers.receive, call->buffers.receive_bytes / call->message.datatype->bytes, 0, 0,
                  call->peers.ranks - 1, mismatch);
}
