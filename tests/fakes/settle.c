/* Looks at whose turn follows when all launches but one have ended: that one's next turn, of each round, whatever comes between. */
#include "../../core/sync/turns.c"
/* After turns.c, which says which of the system's calls it needs. */
#include "../../core/base/allocation.c"

void must(int code, const char *call) {
    (void)code;
    (void)call;
}

void dissemination_barrier(const struct team *team) {
    (void)team;
}

int64_t steady_ns(void) {
    return 0;
}

static void look_at(uint32_t launches, uint32_t cases, uint32_t place) {
    enum { ROUNDS = 100 };
    struct page page = {0};
    struct turns turns = {.page = &page, .launches = launches, .cases = cases, .place = place, .speaks = true};
    for (uint32_t i = 0; i < launches; i++)
        page.presence[i] = i == place ? HERE : DONE;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        page.turn = next_own_turn(&turns, round);
        pass_turn(&turns);
        const uint32_t next = next_own_turn(&turns, round + 1);
        if (page.turn != next)
            printf("place %u of %u, %u cases, round %u: turn %u follows, not %u\n", place, launches, cases, round, page.turn,
                   next);
    }
}

int main(void) {
    for (uint32_t launches = 2; launches <= 8; launches++)
        for (uint32_t cases = 1; cases <= 5; cases++)
            for (uint32_t place = 0; place < launches; place++)
                look_at(launches, cases, place);
    return 0;
}
