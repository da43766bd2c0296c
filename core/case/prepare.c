#include "case/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/registry.h"
#include "base/tree.h"
#include "case/free_memory.h"
#include "kit/data.h"
#include "request/request.h"

enum { LEAST_COLD_BYTES = 8 << 20, THREADS_APART = 500001 };

static int fewer(int a, int b) {
    return a < b ? a : b;
}

static struct memory memory_of(const struct wanted *wanted) {
    return (struct memory){
        .cold = strcmp(wanted->cache, "cold") == 0,
        .in_place = strcmp(wanted->buffers, "in-place") == 0,
        .untouched = strcmp(wanted->pages, "untouched") == 0,
        .huge = strcmp(wanted->pages, "huge") == 0,
        .alignment = (long)wanted->alignment,
        .root = (int)wanted->root,
    };
}

static int make_type(struct call *call) {
    const struct datatype *datatype = call->datatype;
    const bool derived = datatype->make && call->bytes > 0;
    call->type = datatype->make ? MPI_BYTE : datatype->basic;
    call->extent = derived ? datatype->extent(call->bytes) : call->bytes;
    call->large_count = derived ? 1 : call->bytes / datatype->bytes;
    call->count = (int)call->large_count;
    if (!derived)
        return MPI_SUCCESS;
    const int code = datatype->make(call->bytes, &call->type);
    return code ? code : MPI_Type_commit(&call->type);
}

static bool is_made(const struct call *call) {
    return call->datatype->make && call->type != MPI_BYTE && call->type != MPI_DATATYPE_NULL;
}

static int count_all(const struct operation *operation, const struct call *call) {
    const int messages = operation->count_messages ? operation->count_messages(call) : operation->messages;
    return messages > 0 ? messages : 1;
}

struct call make_call(const struct plan *plan, const struct team *team) {
    struct call call = {
        .comm = team->calls,
        .members = team->members,
        .rank = team->rank,
        .ranks = team->takes > 0 ? team->takes : team->ranks,
        .form = plan->form,
        .bytes = (long)plan->wanted->bytes,
        .datatype = find_datatype(plan->wanted->datatype),
        .type = MPI_DATATYPE_NULL,
        .reduction = MPI_OP_NULL,
        .pending = 1,
        .initiate = plan->operation->forms[plan->form],
        .chosen = plan->chosen,
    };
    const int root = (int)plan->wanted->root;
    call.first = (int)chosen(&call, &from_choice);
    call.second = (int)chosen(&call, &to_choice);
    call.root = plan->operation->between_two ? call.first : root == ROTATING ? 0 : root;
    call.messages = count_all(plan->operation, &call);
    return call;
}

void make_worker(const struct setting *setting, struct worker *worker) {
    struct call *call = &worker->call;
    *call = make_call(setting->plan, setting->team);
    worker->buffers = (struct buffers){.memory = memory_of(setting->plan->wanted), .operation = setting->plan->operation};
    call->receipts = &worker->receipts;
    call->requests = obtain_memory(sizeof *call->requests * ((size_t)call->messages + 2));
    for (int i = 0; i < call->messages + 2; i++)
        call->requests[i] = MPI_REQUEST_NULL;
    if (!setting->team->idle)
        note_code(setting->outcome, make_type(call), "the datatype");
    call->seed = (unsigned)(worker - setting->workers) * THREADS_APART;
}

static void check_room(const struct setting *setting, double needed) {
    char line[LINE_BYTES / 2];
    const struct call *call = first_call(setting);
    needed *= fewer(setting->world->ranks_on_host, setting->team->ranks);
    if (!setting->plan->operation->large && call->large_count > INT32_MAX) {
        snprintf(line, sizeof line, "%ld bytes are more than 2^31-1 elements of %s", call->bytes, call->datatype->name);
        note(setting->outcome, REFUSED, line);
    } else if (needed > 0.8 * free_memory()) {
        snprintf(line, sizeof line, "buffers of %.1f GiB on this host do not fit in the %.1f GiB of memory that are free",
                 needed / (1 << 30), free_memory() / (1 << 30));
        note(setting->outcome, REFUSED, line);
    }
}

/* What this rank rotates through if its buffers are to be cold: all ranks of the team together, twice the cache they share. */
static long cold_share(const struct setting *setting) {
    const struct world *world = setting->world;
    const int64_t share = 2 * world->last_level_cache_bytes / fewer(world->ranks_on_cache, setting->team->ranks);
    return (long)(share > LEAST_COLD_BYTES ? share : LEAST_COLD_BYTES);
}

void plan_memory(const struct setting *setting) {
    double needed = 0;
    EACH_WORKER(worker, setting)
        needed += (double)plan_buffers(&worker->buffers, &worker->call, cold_share(setting));
    check_room(setting, needed);
}

void take_memory(const struct setting *setting) {
    char reason[REASON_BYTES], line[LINE_BYTES / 2];
    EACH_WORKER(worker, setting)
        if (setting->outcome->severity == GOOD && !make_buffers(&worker->buffers, reason)) {
            snprintf(line, sizeof line, "rank %d: %s", setting->team->rank, reason);
            note(setting->outcome, REFUSED, line);
        }
}

/* Open MPI chooses the algorithms of a communicator when it is made. */
static bool needs_communicators(const struct setting *setting) {
    return setting->threads > 1 || *setting->plan->wanted->settings || chosen_of(setting, &quantity_choice) == QUANTITY_MEMORY;
}

void take_communicators(const struct setting *setting) {
    if (needs_communicators(setting) && setting->team->members != MPI_COMM_NULL)
        EACH_WORKER(worker, setting) {
            MPI_Comm copy = MPI_COMM_NULL;
            note_code(setting->outcome, MPI_Comm_dup(setting->team->members, &copy), "MPI_Comm_dup");
            worker->call.comm = worker->call.members = copy;
        }
}

void prepare_worker(const struct setting *setting, struct worker *worker) {
    const struct plan *plan = setting->plan;
    struct call *call = &worker->call;
    note_code(setting->outcome, make_reduction(chosen(call, &reduction_choice), &call->reduction), "MPI_Op_create");
    take_root(&worker->buffers, call, call->root);
    if (plan->operation->prepare)
        note_code(setting->outcome, plan->operation->prepare(call), "preparation");
    take_root(&worker->buffers, call, call->root);
    if (plan->form == PERSISTENT && !plan->operation->completes && setting->outcome->severity == GOOD)
        note_code(setting->outcome, call->initiate(call), "initialisation");
}

void count_moves(const struct setting *setting) {
    const struct operation *operation = setting->plan->operation;
    const struct call *call = first_call(setting);
    const int64_t others = operation->between_two ? 1 : call->ranks - 1;
    const int64_t bytes =
        amounts_of(operation, call, true).receive_bytes + others * amounts_of(operation, call, false).receive_bytes;
    const int64_t messages = call->bytes > 0 ? bytes / call->bytes : call->messages;
    setting->outcome->moved_bytes = setting->threads * (call->moved_messages ? call->moved_bytes : bytes);
    setting->outcome->moved_messages = setting->threads * (call->moved_messages ? call->moved_messages : messages);
}

void leave_worker(const struct setting *setting, struct worker *worker) {
    const struct plan *plan = setting->plan;
    struct call *call = &worker->call;
    if (plan->form == PERSISTENT && !plan->operation->completes)
        for (int i = 0; i < call->pending; i++)
            if (call->requests[i] != MPI_REQUEST_NULL)
                note_code(setting->outcome, MPI_Request_free(&call->requests[i]), "MPI_Request_free");
    if (plan->operation->finish)
        plan->operation->finish(call);
    free_reduction(chosen(call, &reduction_choice), &call->reduction);
}

void leave_communicators(const struct setting *setting) {
    if (needs_communicators(setting) && setting->team->members != MPI_COMM_NULL)
        EACH_WORKER(worker, setting)
            if (worker->call.comm != MPI_COMM_NULL)
                must(MPI_Comm_free(&worker->call.comm), "MPI_Comm_free");
}

void free_worker(struct worker *worker) {
    if (is_made(&worker->call))
        MPI_Type_free(&worker->call.type);
    free(worker->call.requests);
    free_reference(&worker->reference);
    free_buffers(&worker->buffers);
}
