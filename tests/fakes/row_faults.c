/* Prints the fault of each of some wrong rows. */
#include "../../core/base/choices.c"
#include "../../core/base/registry.c"
#include "../../core/base/rows.c"

static int blocking(struct call *call) {
    (void)call;
    return MPI_SUCCESS;
}

static int count_two(const struct call *call) {
    (void)call;
    return 2;
}

static void fill(struct call *call) {
    (void)call;
}

static bool answer_yes(const struct call *call) {
    (void)call;
    return true;
}

static const struct start start = {.name = "none"};
static const struct datatype datatype = {.name = "byte"};
static const struct source source = {.name = "clock"};
static const struct synchronisation synchronisation = {.name = "tree"};
REGISTER(start, start);
REGISTER(datatype, datatype);
REGISTER(source, source);
REGISTER(synchronisation, synchronisation);

static const struct choice beyond = {"beyond", "", .least = 1, .most = 2, .usual = 3};
static const struct choice twice = {"twice", "", .least = 1, .most = 2, .usual = 1};

#define ROW(name_, ...) \
    static const struct operation row_##name_ = {.name = #name_, \
                                                 .help = "", \
                                                 .standard = "none", \
                                                 .kind = KIND_SELF_TEST, \
                                                 .timing.start = "none", \
                                                 .unchecked = "it calls nothing", \
                                                 __VA_ARGS__}; \
    REGISTER(operation, row_##name_);

#pragma GCC diagnostic ignored "-Woverride-init"
ROW(right, .forms = {blocking})
ROW(without_help, .forms = {blocking}, .help = NULL)
ROW(measured_twice, .forms = {blocking}, .timing.rank_0_measures = true, .hooks.measures = answer_yes)
ROW(without_pattern, .forms = {blocking}, .hooks.is_passive_target = answer_yes)
ROW(rooted_pair, .forms = {blocking}, .ranks.between_two = true, .ranks.rooted = true)
ROW(second, .forms = {blocking}, .name = "right")
ROW(without_kind, .forms = {blocking}, .kind = 0)
ROW(without_form, .forms = {blocking}, .usual = PERSISTENT)
ROW(without_start, .forms = {blocking}, .timing.start = "soon")
ROW(of_two_and_pairs, .forms = {blocking}, .ranks.between_two = true, .ranks.in_pairs = true)
ROW(unchecked, .forms = {blocking}, .kind = KIND_LOCAL, .unchecked = NULL)
ROW(checked_and_not, .forms = {blocking}, .timing.synchronises = true)
ROW(filled_only, .forms = {blocking}, .hooks.fill = fill)
ROW(without_size, .forms = {blocking}, SENDS({.base = 1}))
ROW(counted_twice, .forms = {blocking}, .data.messages = 1, .hooks.count_messages = count_two)
ROW(wrong_default, .forms = {blocking}, CHOICES(&beyond))
ROW(same_choice, .forms = {blocking}, CHOICES(&twice, &twice))
ROW(many_choices, .forms = {blocking}, CHOICES(&twice, &twice, &twice, &twice, &twice, &twice, &twice, &twice, &twice))

int main(void) {
    return check_rows();
}
