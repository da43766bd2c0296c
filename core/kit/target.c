#include "kit/target.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/choices.h"
#include "kit/data.h"
#include "kit/new_comm.h"

/* --- who reaches whom --- */

int first_to_second(const struct call *call, int until, int target) {
    return until > call->peers.first && target == call->peers.second ? call->window.messages : 0;
}

int both_ways(const struct call *call, int until, int target) {
    const bool back = until > call->peers.second && target == call->peers.first;
    return first_to_second(call, until, target) + (back ? call->window.messages : 0);
}

int first_of_pair(const struct call *call, int until, int target) {
    const int origin = target - call->peers.ranks / 2;
    return origin >= 0 && until > origin ? call->window.messages : 0;
}

/* Each of two ranks is both neighbours of the other. */
int to_neighbours(const struct call *call, int until, int target) {
    const int ranks = call->peers.ranks;
    return (until > (target + 1) % ranks) + (until > (target + ranks - 1) % ranks);
}

int root_to_others(const struct call *call, int until, int target) {
    return until > call->peers.root && target != call->peers.root;
}

int others_to_root(const struct call *call, int until, int target) {
    return target == call->peers.root ? until - (until > target) : 0;
}

int to_all_others(const struct call *call, int until, int target) {
    (void)call;
    return until - (until > target);
}

int count_window(const struct call *call) {
    return (int)read_choice(call, &window_choice);
}

int count_others(const struct call *call) {
    return call->peers.ranks - 1;
}

static int count_blocks_before(const struct call *call, int until, int target) {
    return call->operation->rma.pattern(call, until, target);
}

static int count_blocks(const struct call *call, int origin, int target) {
    return count_blocks_before(call, origin + 1, target) - count_blocks_before(call, origin, target);
}

/* Place of a block in the target's memory. */
static MPI_Aint find_place(const struct call *call, int rank, long block) {
    const struct target *target = get_target(call);
    return target->places[rank] + (call->operation->rma.kind == ADDS ? 0 : block * call->message.extent);
}

/* Every rank begins with the rank after it, so that not all access the same one at once. Blocks are in the order of the
 * ranks on the other side. */
static void plan_transfers(const struct call *call, struct target *target) {
    const int rank = call->peers.rank, ranks = call->peers.ranks;
    long here = 0, all = 0;
    for (int peer = 0; peer < ranks; peer++) {
        here += peer <= rank ? count_blocks(call, rank, peer) : 0;
        all += count_blocks(call, rank, peer);
    }
    target->transfers = obtain_memory(sizeof *target->transfers * ((size_t)all + 1));
    target->peers = obtain_memory(sizeof *target->peers * (size_t)ranks);
    for (int i = 1; i < ranks; i++) {
        const int peer = (rank + i) % ranks, blocks = count_blocks(call, rank, peer);
        const long there = count_blocks_before(call, rank, peer);
        if (peer == 0)
            here = 0;
        if (blocks > 0)
            target->peers[target->peer_count++] = peer;
        for (int k = 0; k < blocks; k++)
            target->transfers[target->transfer_count++] =
                (struct transfer){peer, find_place(call, peer, there + k), here++ * call->message.extent};
    }
}

static void count_moved(struct call *call, long bytes) {
    call->moved.messages = 0;
    for (int target = 0; target < call->peers.ranks; target++)
        call->moved.messages += count_blocks_before(call, call->peers.ranks, target);
    call->moved.bytes = call->moved.messages * bytes;
}

/* --- whose memory is reached --- */

static int create(const struct call *call, struct target *target) {
    return MPI_Win_create(target->memory, target->bytes, 1, MPI_INFO_NULL, call->peers.members, &target->window);
}

static int allocate(const struct call *call, struct target *target) {
    return MPI_Win_allocate(target->bytes, 1, MPI_INFO_NULL, call->peers.members, &target->memory, &target->window);
}

static int allocate_shared(const struct call *call, struct target *target) {
    return MPI_Win_allocate_shared(target->bytes, 1, MPI_INFO_NULL, call->peers.members, &target->memory, &target->window);
}

enum { PLACE_TAG = 7100 };

/* Every rank sends its address to all others, without a collective of the library under test. */
static int exchange_places(const struct call *call, MPI_Aint place, MPI_Aint *places) {
    int code = MPI_SUCCESS;
    places[call->peers.rank] = place;
    for (int step = 1; step < call->peers.ranks && !code; step++) {
        const int to = (call->peers.rank + step) % call->peers.ranks,
                  from = (call->peers.rank - step + call->peers.ranks) % call->peers.ranks;
        code = MPI_Sendrecv(&place, 1, MPI_AINT, to, PLACE_TAG, &places[from], 1, MPI_AINT, from, PLACE_TAG, call->peers.members,
                            MPI_STATUS_IGNORE);
    }
    return code;
}

/* A dynamic window is addressed by the addresses of each rank. */
static int attach(const struct call *call, struct target *target) {
    MPI_Aint place = 0;
    int code = MPI_Win_create_dynamic(MPI_INFO_NULL, call->peers.members, &target->window);
    if (!code && target->bytes > 0) {
        code = MPI_Win_attach(target->window, target->memory, target->bytes);
        target->attached = !code;
        MPI_Get_address(target->memory, &place);
    }
    const int exchange_code = exchange_places(call, place, target->places);
    return code ? code : exchange_code;
}

enum { SHARED = 3 };
static int (*const allocations[])(const struct call *, struct target *) = {allocate, create, attach, allocate_shared};

const struct choice allocation_choice = {
    "allocation", "memory of the window: allocated by MPI; by the program; attached to a dynamic window; shared within a node",
    NAMES_OF("allocate", "create", "dynamic", "shared")};

/* --- what keeps order --- */

static int do_nothing(const struct target *target) {
    (void)target;
    return MPI_SUCCESS;
}

static inline int for_each_peer(const struct target *target, int (*act)(int, MPI_Win)) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < target->peer_count; i++) {
        const int now = act(target->peers[i], target->window);
        code = code ? code : now;
    }
    return code;
}

static int lock_one(int rank, MPI_Win window) {
    return MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
}

static int unlock_one(int rank, MPI_Win window) {
    return MPI_Win_unlock(rank, window);
}

static int flush_one(int rank, MPI_Win window) {
    return MPI_Win_flush(rank, window);
}

static int flush_local_one(int rank, MPI_Win window) {
    return MPI_Win_flush_local(rank, window);
}

static int lock(const struct target *target) {
    return for_each_peer(target, lock_one);
}

static int unlock(const struct target *target) {
    return for_each_peer(target, unlock_one);
}

/* One or two neighbours are flushed singly, as in a program that knows only these. */
static int flush(const struct target *target) {
    return target->peer_count > 2 ? MPI_Win_flush_all(target->window) : for_each_peer(target, flush_one);
}

static int flush_local(const struct target *target) {
    return target->peer_count > 2 ? MPI_Win_flush_local_all(target->window) : for_each_peer(target, flush_local_one);
}

static int lock_all(const struct target *target) {
    return MPI_Win_lock_all(0, target->window);
}

static int unlock_all(const struct target *target) {
    return MPI_Win_unlock_all(target->window);
}

static int fence(const struct target *target) {
    return MPI_Win_fence(0, target->window);
}

static int post_and_start(const struct target *target) {
    const int code = target->reached ? MPI_Win_post(target->origins, 0, target->window) : MPI_SUCCESS;
    return code || target->peer_count == 0 ? code : MPI_Win_start(target->targets, 0, target->window);
}

static int complete_and_wait(const struct target *target) {
    const int code = target->peer_count > 0 ? MPI_Win_complete(target->window) : MPI_SUCCESS;
    return code || !target->reached ? code : MPI_Win_wait(target->window);
}

/* Synchronises the public and the private copy of the window. */
static void synchronise_copies(const struct call *call) {
    MPI_Win_sync(get_target(call)->window);
}

static void lock_own_memory(const struct call *call) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, call->peers.rank, 0, get_target(call)->window);
    MPI_Win_unlock(call->peers.rank, get_target(call)->window);
}

/* Fences and posts synchronise both copies. */
static void leave_copies(const struct call *call) {
    (void)call;
}

static const struct epoch {
    int (*open)(const struct target *);
    int (*close)(const struct target *);
    void (*synchronise_memory)(const struct call *);
    /* One lock_all spans all calls; targets call nothing; transfers complete at the target only later. */
    bool is_held, passive, late;
} epochs[] = {
    {do_nothing, flush, synchronise_copies, .is_held = true, .passive = true},
    {do_nothing, flush_local, synchronise_copies, .is_held = true, .passive = true, .late = true},
    {lock, unlock, lock_own_memory, .passive = true},
    {lock_all, unlock_all, lock_own_memory, .passive = true},
    {fence, fence, leave_copies, .passive = false},
    {post_and_start, complete_and_wait, leave_copies, .passive = false},
};

const struct choice epoch_choice = {
    "epoch", "what ends a call: a flush within one MPI_Win_lock_all; the unlock of a lock per call; a fence; complete and wait",
    NAMES_OF("flush", "flush_local", "lock", "lock_all", "fence", "pscw")};

static const struct epoch *find_epoch(const struct call *call) {
    return &epochs[read_choice(call, &epoch_choice)];
}

void synchronise_memory(const struct call *call) {
    const struct target *target = get_target(call);
    if (target->without_mpi && target->unified)
        atomic_thread_fence(memory_order_seq_cst);
    else
        find_epoch(call)->synchronise_memory(call);
}

int complete_at_target(struct call *call) {
    const struct target *target = get_target(call);
    return target->epoch->late && target->peer_count > 0 ? MPI_Win_flush_all(target->window) : MPI_SUCCESS;
}

static bool share_memory(const struct call *call) {
    MPI_Comm host = MPI_COMM_NULL;
    int ranks = 0;
    if (MPI_Comm_split_type(call->peers.members, MPI_COMM_TYPE_SHARED, call->peers.rank, MPI_INFO_NULL, &host) == MPI_SUCCESS) {
        MPI_Comm_size(host, &ranks);
        MPI_Comm_free(&host);
    }
    return ranks == call->peers.ranks;
}

const char *refuse_active_targets(const struct call *call) {
    const bool may = find_epoch(call)->passive;
    return may ? refuse_target(call) : "a computing target cannot synchronise; epoch=flush needs nothing of it";
}

const char *refuse_target(const struct call *call) {
    if (call->form == NONBLOCKING && !find_epoch(call)->passive)
        return "MPI_Rput and its like need a passive target: the nonblocking form needs an epoch such as flush";
    if (read_choice(call, &allocation_choice) == SHARED && !share_memory(call))
        return "allocation=shared needs all ranks on one node";
    return NULL;
}

const char *refuse_reduction(const struct call *call) {
    const bool user = is_user_defined(read_choice(call, &reduction_choice));
    return user ? "MPI_Accumulate and its like take predefined reductions only" : refuse_target(call);
}

/* --- made and put away --- */

static int make_groups(const struct call *call, struct target *target) {
    int *const origins = obtain_memory(sizeof *origins * (size_t)call->peers.ranks);
    int count = 0;
    MPI_Group all = MPI_GROUP_NULL;
    for (int origin = 0; origin < call->peers.ranks; origin++)
        if (count_blocks(call, origin, call->peers.rank) > 0)
            origins[count++] = origin;
    target->reached = count > 0;
    int code = MPI_Comm_group(call->peers.members, &all);
    code = code ? code : MPI_Group_incl(all, count, origins, &target->origins);
    code = code ? code : MPI_Group_incl(all, target->peer_count, target->peers, &target->targets);
    free_group(&all);
    free(origins);
    return code;
}

/* Ranks without targets have nothing to lock or flush. */
static int open_epoch(struct target *target) {
    const bool idle = target->epoch->passive && target->peer_count == 0;
    target->open = idle ? do_nothing : target->epoch->open;
    target->close = idle ? do_nothing : target->epoch->close;
    const int code = target->epoch->is_held ? MPI_Win_lock_all(0, target->window) : MPI_SUCCESS;
    target->locked = target->epoch->is_held && !code;
    return code;
}

static struct target *make_target_state(struct call *call) {
    struct target *target = obtain_memory(sizeof *target);
    target->window = MPI_WIN_NULL;
    target->origins = target->targets = MPI_GROUP_NULL;
    target->places = obtain_memory(sizeof *target->places * (size_t)call->peers.ranks);
    target->epoch = find_epoch(call);
    call->state = target;
    return target;
}

/* Without the attribute there are two copies. */
static bool is_unified(MPI_Win window) {
    int *model = NULL, known = 0;
    const int code = MPI_Win_get_attr(window, MPI_WIN_MODEL, &model, &known);
    return code == MPI_SUCCESS && known && *model == MPI_WIN_UNIFIED;
}

static int open_window(const struct call *call, struct target *target) {
    const unsigned char *const requested = target->memory;
    int code = allocations[read_choice(call, &allocation_choice)](call, target);
    target->is_allocated_by_mpi = target->memory != requested;
    code = code ? code : MPI_Win_set_errhandler(target->window, MPI_ERRORS_RETURN);
    if (code)
        return code;
    target->unified = is_unified(target->window);
    plan_transfers(call, target);
    code = make_groups(call, target);
    return code ? code : open_epoch(target);
}

int make_target(struct call *call) {
    const enum rma_kind kind = call->operation->rma.kind;
    struct target *target = make_target_state(call);
    const int blocks = count_blocks_before(call, call->peers.ranks, call->peers.rank);
    target->memory = kind == GETS ? call->buffers.send : call->buffers.receive;
    target->bytes = (kind == ADDS ? blocks > 0 : blocks) * call->message.extent;
    count_moved(call, call->message.bytes);
    const int code = open_window(call, target);
    if (!code && kind != GETS && target->is_allocated_by_mpi && target->bytes > 0)
        call->buffers.elsewhere = target->memory;
    return code;
}

int make_element_target(struct call *call) {
    struct target *target = make_target_state(call);
    target->memory = target->element.bytes;
    target->bytes = call->peers.rank == call->peers.second ? (long)sizeof target->element : 0;
    count_moved(call, 2L * call->message.datatype->bytes);
    return open_window(call, target);
}

void finish_target(struct call *call) {
    struct target *target = get_target(call);
    if (!target)
        return;
    if (target->locked)
        MPI_Win_unlock_all(target->window);
    if (target->attached)
        MPI_Win_detach(target->window, target->memory);
    if (target->window != MPI_WIN_NULL)
        MPI_Win_free(&target->window);
    free_group(&target->origins);
    free_group(&target->targets);
    free(target->places);
    free(target->transfers);
    free(target->peers);
    free(target);
    call->state = NULL;
    call->buffers.elsewhere = NULL;
}

/* --- calls --- */

int run_transfers(struct call *call, transfer_function *move) {
    const struct target *target = get_target(call);
    int code = target->open(target);
    for (int i = 0; i < target->transfer_count && !code; i++)
        code = move(call, target->window, &target->transfers[i], &call->window.requests[i]);
    if (call->form == NONBLOCKING && !code)
        code = MPI_Waitall(target->transfer_count, call->window.requests, MPI_STATUSES_IGNORE);
    const int closed = target->close(target);
    return code ? code : closed;
}

/* --- data --- */

static unsigned find_stream(const struct call *call, int origin, int target, int block) {
    return call->seed + (unsigned)((origin * call->peers.ranks + target) * MOST_BLOCKS + block);
}

/* Calls `see` for each block that this rank moves as origin, or that is moved in its memory, in the order of memory. */
static void visit_blocks(const struct call *call, bool as_origin,
                         void (*see)(const struct call *, long at, unsigned stream, void *), void *context) {
    long at = 0;
    for (int peer = 0; peer < call->peers.ranks; peer++) {
        const int origin = as_origin ? call->peers.rank : peer, target = as_origin ? peer : call->peers.rank;
        const int blocks = count_blocks(call, origin, target);
        for (int block = 0; block < blocks; block++, at += call->message.bytes)
            see(call, at, find_stream(call, origin, target, block), context);
    }
}

static void fill_block(const struct call *call, long at, unsigned stream, void *unused) {
    (void)unused;
    fill_bytes(call->buffers.send + at, call->message.bytes, stream);
}

static void check_block(const struct call *call, long at, unsigned stream, void *mismatch) {
    check_bytes(call->buffers.receive + at, call->message.bytes, stream, at, mismatch);
}

/* Copies the data that others get to memory allocated by MPI, which the core does not fill otherwise. */
static void store_for_others(const struct call *call, unsigned char *memory) {
    for (long i = 0; i < call->buffers.send_bytes; i++) {
        const long position = i % call->message.bytes;
        const long place =
            call->message.datatype->find_place ? call->message.datatype->find_place(position, call->message.bytes) : position;
        memory[i / call->message.bytes * call->message.extent + place] = call->buffers.send[i];
    }
}

void fill_moved(struct call *call) {
    const struct target *target = get_target(call);
    visit_blocks(call, call->operation->rma.kind != GETS, fill_block, NULL);
    if (call->operation->rma.kind == GETS && target->is_allocated_by_mpi && target->bytes > 0)
        store_for_others(call, target->memory);
    synchronise_memory(call);
}

void avoid_mpi(const struct call *call, bool without_mpi) {
    get_target(call)->without_mpi = without_mpi;
}

bool is_visible_without_mpi(const struct call *call) {
    const struct target *target = get_target(call);
    return target->unified || call->operation->rma.kind == GETS || is_active(call);
}

bool is_active(const struct call *call) {
    return !get_target(call)->epoch->passive;
}

bool is_target(const struct call *call) {
    return get_target(call)->reached && call->operation->rma.kind != GETS;
}

bool is_passive_target(const struct call *call) {
    const struct target *target = get_target(call);
    return is_target(call) && target->epoch->passive;
}

/* Data that were got are outside the window. */
void check_moved(const struct call *call, struct mismatch *mismatch) {
    if (call->operation->rma.kind != GETS)
        synchronise_memory(call);
    visit_blocks(call, call->operation->rma.kind == GETS, check_block, mismatch);
}

void fill_added(struct call *call) {
    fill_addends(call);
    if (get_target(call)->bytes > 0)
        fill_terms(call, call->buffers.receive, call->message.count, 0, call->peers.rank);
    synchronise_memory(call);
}

void check_added(const struct call *call, struct mismatch *mismatch) {
    synchronise_memory(call);
    if (get_target(call)->bytes > 0)
        check_sums(call, mismatch);
}
