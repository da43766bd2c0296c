#include "verify/variants.h"

#include <stdlib.h>

#include "base/allocation.h"
#include "base/core.h"
#include "base/numbers.h"
#include "base/tree.h"
#include "kit/data.h"
#include "kit/special.h"
#include "verify/check.h"

/* Data of a rank up to this size are checked with other calls, too; where calls are timed, up to a smaller one. In a burst
 * all its calls together have this size, and messages. */
enum {
    MOST_BYTES = 1 << 20,
    MOST_TIMED_BYTES = 256 << 10,
    MOST_BURST = 64,
    MOST_BURST_BYTES = 256 << 10,
    MOST_BURST_MESSAGES = 256
};
/* Long enough for messages to arrive before their receive. */
enum { LATE_NS = 50000, MOST_LATE = 3 };
enum { SEED_STEP_IN_BURST = 100003 };

static bool is_small(const struct setting *setting, long most_bytes) {
    const struct buffers *buffers = &setting->workers->buffers;
    const struct call *call = first_call(setting);
    const struct amounts root = find_amounts(buffers->operation, call, true),
                         other = find_amounts(buffers->operation, call, false);
    return root.send_bytes + root.receive_bytes <= most_bytes && other.send_bytes + other.receive_bytes <= most_bytes;
}

/* Whether another call may take the place of this one: no request, window or thread depends on what changes. */
static bool is_free(const struct setting *setting) {
    const struct memory *memory = &setting->workers->buffers.memory;
    return setting->plan->form != PERSISTENT && setting->threads == 1 && !memory->cold && !memory->untouched;
}

static bool reduces(const struct setting *setting) {
    return setting->plan->operation->data.datatypes == NUMBERS;
}

static bool is_collective(const struct setting *setting) {
    return setting->plan->operation->kind == KIND_COLLECTIVE;
}

/* Whether the operation keeps nothing that depends on sizes or ranks. */
static bool is_stateless(const struct setting *setting) {
    const struct operation *operation = setting->plan->operation;
    return is_free(setting) && is_collective(setting) && !operation->hooks.prepare && operation->hooks.check;
}

/* Whether this rank's buffers have room for it as a root and as another rank. */
static bool has_room(const struct setting *setting) {
    return !setting->plan->operation->ranks.rooted || setting->workers->buffers.any_root;
}

/* After a call with other peers or another message: those of the case again. Seeds and numbers of runs go on. */
static void restore_call(const struct setting *setting, const struct call *before) {
    struct worker *worker = setting->workers;
    worker->call.peers = before->peers;
    worker->call.message = before->message;
    worker->call.choices = before->choices;
    if (!setting->team->idle)
        set_root(&worker->buffers, &worker->call, before->peers.root);
}

/* --- numbers --- */

/* Equal on all ranks that take part. */
static int32_t share_largest(const struct setting *setting, int32_t number) {
    number = setting->team->idle ? 0 : number;
    tree_combine(setting->team, &number, sizeof number, merge_largest_int);
    tree_broadcast(setting->team, &number, sizeof number);
    return number;
}

/* A call with few elements has few of the numbers. */
static void check_special_numbers(const struct setting *setting) {
    const struct call *call = first_call(setting);
    const int count = call->message.count > 0 ? call->message.count : 1;
    const int kinds = share_largest(setting, count_special_numbers(call));
    for (int first = 0; first < kinds && all_ranks_good(setting->team, setting->outcome); first += count) {
        use_special_numbers(kinds + first);
        check_call(setting);
        use_special_numbers(0);
    }
}

static void check_ordered(const struct setting *setting) {
    struct call *call = first_call(setting);
    const struct call before = *call;
    struct choice_value choices[MOST_CHOICES + 1];
    int i = 0;
    for (; before.choices[i].choice; i++) {
        choices[i] = before.choices[i];
        if (choices[i].choice == &reduction_choice)
            choices[i].value = REDUCTION_ORDERED;
    }
    choices[i].choice = NULL;
    call->choices = choices;
    note_code(setting->outcome, make_reduction(REDUCTION_ORDERED, &call->message.reduction), "MPI_Op_create");
    if (all_ranks_good(setting->team, setting->outcome))
        check_call(setting);
    free_reduction(REDUCTION_ORDERED, &call->message.reduction);
    restore_call(setting, &before);
}

/* --- another place, root, count or communicator --- */

static void check_in_place(const struct setting *setting) {
    struct worker *worker = setting->workers;
    const struct call before = worker->call;
    worker->buffers.memory.in_place = true;
    check_call(setting);
    worker->buffers.memory.in_place = false;
    restore_call(setting, &before);
}

/* Neither root 0 nor the last one, which are checked anyway. */
static void check_middle_root(const struct setting *setting) {
    struct call *call = first_call(setting);
    const struct call before = *call;
    if (!setting->team->idle)
        set_root(&setting->workers->buffers, call, 1 + (int)(call->runs * 7919 % (call->peers.ranks - 2)));
    check_call(setting);
    restore_call(setting, &before);
}

/* A number of elements that is neither a power of two nor a multiple of one. */
static void check_odd_count(const struct setting *setting) {
    struct call *call = first_call(setting);
    const struct call before = *call;
    call->message.count = (call->message.count * 5 / 8) | 1;
    call->message.large_count = call->message.count;
    call->message.bytes = call->message.extent = (long)call->message.count * call->message.datatype->bytes;
    if (!setting->team->idle)
        set_root(&setting->workers->buffers, call, call->peers.root);
    check_call(setting);
    restore_call(setting, &before);
}

/* Communicators of the ranks of a team in the reverse order; made once per launch. */
static struct reversed {
    MPI_Comm of, comm;
} reversed[4];
static int reversed_count;

static MPI_Comm find_reversed(const struct setting *setting) {
    const struct team *team = setting->team;
    for (int i = 0; i < reversed_count; i++)
        if (reversed[i].of == team->members)
            return reversed[i].comm;
    if (reversed_count == LENGTH(reversed))
        return MPI_COMM_NULL;
    struct reversed *entry = &reversed[reversed_count++];
    *entry = (struct reversed){team->members, MPI_COMM_NULL};
    int code = MPI_Comm_split(team->members, 0, -team->rank, &entry->comm);
    code = code ? code : MPI_Comm_set_errhandler(entry->comm, MPI_ERRORS_RETURN);
    note_code(setting->outcome, code, "MPI_Comm_split");
    return entry->comm;
}

void free_variants(void) {
    while (reversed_count > 0)
        if (reversed[--reversed_count].comm != MPI_COMM_NULL)
            MPI_Comm_free(&reversed[reversed_count].comm);
}

static void check_reversed(const struct setting *setting) {
    struct call *call = first_call(setting);
    const struct call before = *call;
    call->peers.comm = call->peers.members = find_reversed(setting);
    call->peers.rank = call->peers.ranks - 1 - call->peers.rank;
    const bool exists = call->peers.comm != MPI_COMM_NULL;
    set_root(&setting->workers->buffers, call, call->peers.root);
    if (all_ranks_good(setting->team, setting->outcome) && exists)
        check_call(setting);
    restore_call(setting, &before);
}

/* --- late ranks --- */

static void check_late_ranks(const struct setting *setting) {
    const struct call *call = first_call(setting);
    const bool two = setting->plan->operation->ranks.between_two;
    const int ranks = call->peers.ranks;
    const int late[MOST_LATE] = {two ? call->peers.first : 0, two ? call->peers.second : ranks - 1, ranks / 2};
    const int count = two || ranks < MOST_LATE ? 2 : MOST_LATE;
    for (int i = 0; i < count && all_ranks_good(setting->team, setting->outcome); i++) {
        delay_checked_calls(late[i], LATE_NS);
        check_call(setting);
        delay_checked_calls(late[i], 0);
    }
}

/* --- a burst --- */

struct burst {
    struct buffers buffers;
    int count;
    struct call calls[MOST_BURST];
    /* Hashes of the send buffers. */
    uint64_t sent[MOST_BURST];
};

/* Nothing is called between two calls, so that buffers of the library are used again while others still read them. */
static int count_burst(const struct setting *setting) {
    const struct worker *worker = setting->workers;
    const struct amounts root = find_amounts(worker->buffers.operation, &worker->call, true),
                         other = find_amounts(worker->buffers.operation, &worker->call, false);
    const long bytes = root.send_bytes + root.receive_bytes + other.send_bytes + other.receive_bytes + 1;
    const long by_messages = max(2, MOST_BURST_MESSAGES / max(1, worker->call.window.messages));
    return (int)min(MOST_BURST, min(MOST_BURST_BYTES / bytes, by_messages));
}

static bool fill_burst(const struct setting *setting, struct burst *burst) {
    char reason[REASON_BYTES];
    const struct worker *worker = setting->workers;
    burst->buffers = (struct buffers){.memory = worker->buffers.memory, .operation = worker->buffers.operation};
    burst->buffers.memory.cold = true;
    plan_slots(&burst->buffers, &worker->call, burst->count);
    if (!make_buffers(&burst->buffers, reason))
        return false;
    for (int i = 0; i < burst->count; i++) {
        burst->calls[i] = worker->call;
        burst->calls[i].seed += SEED_STEP_IN_BURST * (unsigned)(i + 1);
        burst->calls[i].window.receipts = NULL;
        burst->buffers.slot = i;
        fill_buffers(&burst->buffers, &burst->calls[i]);
        burst->sent[i] = burst->buffers.sent;
    }
    return true;
}

static void run_burst(const struct setting *setting, struct burst *burst) {
    const struct operation *operation = setting->plan->operation;
    run_function *const run = choose_run(setting->plan);
    int code = MPI_SUCCESS;
    for (int i = 0; i < burst->count && !code; i++) {
        code = run(&burst->calls[i]);
        burst->calls[i].runs++;
    }
    note_code(setting->outcome, code, operation->name);
}

static void inspect_burst(const struct setting *setting, const struct burst *burst) {
    for (int i = 0; i < burst->count && setting->outcome->severity == GOOD; i++) {
        struct worker worker = {.call = burst->calls[i], .buffers = burst->buffers};
        worker.buffers.slot = i;
        worker.buffers.sent = burst->sent[i];
        inspect_worker(setting, &worker);
    }
}

static void check_burst(const struct setting *setting) {
    struct burst *burst = setting->team->idle ? NULL : try_memory(sizeof *burst);
    if (burst)
        *burst = (struct burst){.count = count_burst(setting)};
    const bool is_filled = tree_agree(setting->team, setting->team->idle || (burst && fill_burst(setting, burst)));
    dissemination_barrier(setting->team);
    if (is_filled && burst)
        run_burst(setting, burst);
    if (all_ranks_good(setting->team, setting->outcome) && is_filled && burst)
        inspect_burst(setting, burst);
    if (burst) {
        free_buffers(&burst->buffers);
        free_changes(&burst->buffers.changes);
    }
    free(burst);
}

/* --- all of them --- */

static bool can_be_ordered(const struct setting *setting) {
    return is_free(setting) && reduces(setting) && is_collective(setting);
}

static bool can_be_in_place(const struct setting *setting) {
    return is_free(setting) && setting->plan->operation->data.in_place && !setting->workers->buffers.memory.in_place;
}

static bool has_middle_root(const struct setting *setting) {
    return is_free(setting) && setting->workers->buffers.any_root && first_call(setting)->peers.ranks > 2;
}

static bool can_be_odd(const struct setting *setting) {
    const struct call *call = first_call(setting);
    return is_stateless(setting) && call->message.count > 2 && !call->message.datatype->make;
}

static bool can_be_reversed(const struct setting *setting) {
    return is_stateless(setting) && has_room(setting) && setting->team->takes == 0;
}

static bool moves_messages(const struct setting *setting) {
    const enum kind kind = setting->plan->operation->kind;
    const bool messages = kind == KIND_COLLECTIVE || kind == KIND_POINT_TO_POINT || kind == KIND_NEIGHBOURHOOD;
    return messages && setting->plan->operation->hooks.check;
}

static bool can_follow_itself(const struct setting *setting) {
    const struct operation *operation = setting->plan->operation;
    return moves_messages(setting) && is_free(setting) && !operation->data.keeps_buffers && !operation->data.accumulates &&
           !operation->data.numbers_rounds && !operation->hooks.before && !operation->hooks.after && count_burst(setting) > 1;
}

static const struct variant {
    const char *name;
    bool (*applies)(const struct setting *setting);
    void (*check)(const struct setting *setting);
    /* Only if nothing is timed: settings of a library may be wrong for such calls, which a program need not make. */
    bool thorough;
} variants[] = {
    {"with special numbers", reduces, check_special_numbers, false},
    {"with a reduction that is not commutative", can_be_ordered, check_ordered, true},
    {"in place", can_be_in_place, check_in_place, false},
    {"with another root", has_middle_root, check_middle_root, false},
    {"with another number of elements", can_be_odd, check_odd_count, false},
    {"on a communicator with its ranks in reverse order", can_be_reversed, check_reversed, false},
    {"with a late rank", moves_messages, check_late_ranks, false},
    {"directly after another one", can_follow_itself, check_burst, false},
};

/* Only ranks that take part know their buffers. */
static int32_t choose_variants(const struct setting *setting, bool all) {
    int32_t chosen = 0;
    for (int i = 0; i < LENGTH(variants) && !setting->team->idle; i++)
        if (is_small(setting, all ? MOST_BYTES : MOST_TIMED_BYTES) && (all || !variants[i].thorough) &&
            variants[i].applies(setting))
            chosen |= 1 << i;
    return share_largest(setting, chosen);
}

void check_variants(const struct setting *setting, bool all) {
    const int32_t chosen = choose_variants(setting, all);
    for (int i = 0; i < LENGTH(variants); i++) {
        if (!(chosen >> i & 1) || !all_ranks_good(setting->team, setting->outcome))
            continue;
        variants[i].check(setting);
        if (!all_ranks_good(setting->team, setting->outcome))
            add_circumstance(setting->outcome, variants[i].name);
    }
}
