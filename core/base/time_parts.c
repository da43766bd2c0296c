#include "base/time_parts.h"

#include <stdint.h>

#include "base/steady.h"

const char *const part_names[PARTS] = {"init",     "join",    "facts", "wait",   "hop",   "prepare",
                                       "rehearse", "warm_up", "calls", "rounds", "steer", "renew",
                                       "clocks",   "check",   "cost",  "free",   "write", "hand_over"};

static struct {
    int64_t spent_ns[PARTS], since_ns;
    enum part part;
    bool is_held;
} account;

static void charge_time(enum part part) {
    const int64_t now_ns = read_steady_ns();
    if (account.since_ns > 0)
        account.spent_ns[account.part] += now_ns - account.since_ns;
    account.since_ns = now_ns;
    account.part = part;
}

enum part switch_part(enum part part) {
    const enum part before = account.part;
    if (!account.is_held)
        charge_time(part);
    return before;
}

void hold_part(enum part part) {
    switch_part(part);
    account.is_held = true;
}

void release_part(enum part part) {
    account.is_held = false;
    switch_part(part);
}

void move_part_time(enum part from, enum part to, double ns) {
    account.spent_ns[from] -= (int64_t)ns;
    account.spent_ns[to] += (int64_t)ns;
}

double read_part_s(enum part part) {
    charge_time(account.part);
    return 1e-9 * (double)account.spent_ns[part];
}
