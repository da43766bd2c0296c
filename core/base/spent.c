#include "base/spent.h"

#include <stdint.h>

#include "base/steady.h"

const char *const part_names[PARTS] = {"init",     "join",    "facts", "wait",   "hop",   "prepare",
                                       "rehearse", "warm_up", "calls", "rounds", "steer", "renew",
                                       "clocks",   "check",   "cost",  "free",   "write", "hand_over"};

static struct {
    int64_t spent_ns[PARTS], since_ns;
    enum part part;
    bool is_open;
} ledger;

static void change(enum part part) {
    const int64_t now_ns = steady_ns();
    if (ledger.since_ns > 0)
        ledger.spent_ns[ledger.part] += now_ns - ledger.since_ns;
    ledger.since_ns = now_ns;
    ledger.part = part;
}

enum part spend_on(enum part part) {
    const enum part before = ledger.part;
    if (!ledger.is_open)
        change(part);
    return before;
}

void spend_all_on(enum part part) {
    spend_on(part);
    ledger.is_open = true;
}

void spend_freely(enum part part) {
    ledger.is_open = false;
    spend_on(part);
}

void move_spent(enum part from, enum part to, double ns) {
    ledger.spent_ns[from] -= (int64_t)ns;
    ledger.spent_ns[to] += (int64_t)ns;
}

double spent_s(enum part part) {
    change(ledger.part);
    return 1e-9 * (double)ledger.spent_ns[part];
}
