#include "base/float_mode.h"

#include <fenv.h>
#include <stdio.h>

#if defined __x86_64__
#include <xmmintrin.h>

enum { FLUSHES_RESULTS = 0x8000, FLUSHES_OPERANDS = 0x40 };

static void read_flushing(struct float_mode *mode) {
    const unsigned control = _mm_getcsr();
    mode->flushes_results = (control & FLUSHES_RESULTS) != 0;
    mode->flushes_operands = (control & FLUSHES_OPERANDS) != 0;
}

static void set_flushing(const struct float_mode *mode) {
    const unsigned others = _mm_getcsr() & ~(unsigned)(FLUSHES_RESULTS | FLUSHES_OPERANDS);
    _mm_setcsr(others | (mode->flushes_results ? FLUSHES_RESULTS : 0) | (mode->flushes_operands ? FLUSHES_OPERANDS : 0));
}

#elif defined __aarch64__

static const uint64_t FLUSHES = UINT64_C(1) << 24;

static uint64_t read_control(void) {
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
}

static void read_flushing(struct float_mode *mode) {
    mode->flushes_results = mode->flushes_operands = (read_control() & FLUSHES) != 0;
}

static void set_flushing(const struct float_mode *mode) {
    const uint64_t control = (read_control() & ~FLUSHES) | (mode->flushes_results ? FLUSHES : 0);
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}

#else

static void read_flushing(struct float_mode *mode) {
    (void)mode;
}

static void set_flushing(const struct float_mode *mode) {
    (void)mode;
}

#endif

struct float_mode read_float_mode(void) {
    struct float_mode mode = {.rounding = fegetround()};
    read_flushing(&mode);
    return mode;
}

bool is_same_mode(struct float_mode a, struct float_mode b) {
    return a.rounding == b.rounding && a.flushes_results == b.flushes_results && a.flushes_operands == b.flushes_operands;
}

void set_float_mode(struct float_mode mode) {
    fesetround(mode.rounding);
    set_flushing(&mode);
}

struct float_mode set_plain_mode(void) {
    const struct float_mode before = read_float_mode();
    set_float_mode((struct float_mode){.rounding = FE_TONEAREST});
    return before;
}

static const char *name_rounding(int rounding) {
    return rounding == FE_TONEAREST  ? "to nearest"
           : rounding == FE_UPWARD   ? "upward"
           : rounding == FE_DOWNWARD ? "downward"
                                     : "toward zero";
}

void describe_mode(struct float_mode mode, char into[FLOAT_MODE_BYTES]) {
    const char *const denormals = mode.flushes_results && mode.flushes_operands ? "become 0"
                                  : mode.flushes_results                        ? "become 0 as results"
                                  : mode.flushes_operands                       ? "count as 0 as operands"
                                                                                : "are kept";
    snprintf(into, FLOAT_MODE_BYTES, "rounding %s, denormal numbers %s", name_rounding(mode.rounding), denormals);
}
