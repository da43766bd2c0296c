/* The processor's mode for floating-point numbers, which a call may not change: rounding, and whether denormal numbers are
 * kept. */
#ifndef RANKBENCH_FLOAT_MODE_H
#define RANKBENCH_FLOAT_MODE_H

#include <stdbool.h>
#include <stdint.h>

enum { FLOAT_MODE_BYTES = 160 };

struct float_mode {
    /* As fegetround returns it. */
    int32_t rounding;
    /* Of denormal numbers: results become 0, operands count as 0. */
    int32_t flushes_results, flushes_operands;
};

struct float_mode read_float_mode(void);
bool is_same_mode(struct float_mode a, struct float_mode b);
/* The mode in which every program starts: to nearest, denormal numbers are kept. Returns the mode before. */
struct float_mode set_plain_mode(void);
void set_float_mode(struct float_mode mode);
/* In words: "rounding to nearest, denormal numbers are kept". */
void describe_mode(struct float_mode mode, char into[FLOAT_MODE_BYTES]);

#endif
