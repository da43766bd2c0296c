/* Checks the order of turns after all launches but one have ended: each turn of that one is followed by its own next
 * turn, whatever is in between. */
#include "../../core/sync/turns.c"
/* After turns.c, which defines the feature macros for the system's headers. */
#include "../../core/base/allocation.c"
#include "../../core/base/scan.c"

void abort_on_error(int code, const char *call) {
    (void)code;
    (void)call;
}

void give_progress(const struct team *team) {
    (void)team;
}

void dissemination_barrier(const struct team *team) {
    (void)team;
}

int64_t read_steady_ns(void) {
    return 0;
}

enum part switch_part(enum part part) {
    return part;
}

static void check_order(uint32_t launches, uint32_t cases, uint32_t place) {
    enum { ROUNDS = 100 };
    struct page page = {0};
    struct turns turns = {.page = &page, .launches = launches, .cases = cases, .place = place, .leads_host = true};
    for (uint32_t i = 0; i < launches; i++)
        page.presence[i] = i == place ? HERE : DONE;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        page.turn = find_own_turn(&turns, round);
        pass_turn(&turns);
        const uint32_t next = find_own_turn(&turns, round + 1);
        if (page.turn != next)
            printf("place %u of %u, %u cases, round %u: turn %u follows, not %u\n", place, launches, cases, round, page.turn,
                   next);
    }
}

int main(void) {
    for (uint32_t launches = 2; launches <= 8; launches++)
        for (uint32_t cases = 1; cases <= 5; cases++)
            for (uint32_t place = 0; place < launches; place++)
                check_order(launches, cases, place);
    return 0;
}
