#include "case/prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocation.h"
#include "base/numbers.h"
#include "base/registry.h"
#include "base/tree.h"
#include "case/free_memory.h"
#include "kit/data.h"
#include "kit/receipts.h"
#include "request/request.h"

enum { LEAST_COLD_BYTES = 8 << 20, THREADS_APART = 500001 };

static struct memory find_memory_kind(const struct request *request, int threads) {
    return (struct memory){
        .cold = strcmp(request->cache, "cold") == 0,
        .written = strcmp(request->cache, "written") == 0,
        .in_place = strcmp(request->buffers, "in-place") == 0,
        .untouched = strcmp(request->pages, "untouched") == 0,
        .huge = strcmp(request->pages, "huge") == 0,
        .alignment = (long)request->alignment,
        .root = (int)request->root,
        .threaded = threads > 1,
    };
}

static int make_type(struct call *call) {
    const struct datatype *datatype = call->message.datatype;
    const bool derived = datatype->make && call->message.bytes > 0;
    call->message.type = datatype->make ? MPI_BYTE : datatype->basic;
    call->message.extent = derived ? datatype->find_extent(call->message.bytes) : call->message.bytes;
    call->message.large_count = derived ? 1 : call->message.bytes / datatype->bytes;
    call->message.count = (int)call->message.large_count;
    if (!derived)
        return MPI_SUCCESS;
    const int code = datatype->make(call->message.bytes, &call->message.type);
    return code ? code : MPI_Type_commit(&call->message.type);
}

static bool has_derived_type(const struct call *call) {
    return call->message.datatype->make && call->message.type != MPI_BYTE && call->message.type != MPI_DATATYPE_NULL;
}

static int count_messages(const struct operation *operation, const struct call *call) {
    const int messages = operation->hooks.count_messages ? operation->hooks.count_messages(call) : operation->data.messages;
    return messages > 0 ? messages : 1;
}

struct call make_call(const struct plan *plan, const struct team *team) {
    struct call call = {
        .peers.comm = team->calls,
        .peers.members = team->members,
        .peers.rank = team->rank,
        .peers.ranks = team->takes > 0 ? team->takes : team->ranks,
        .message.bytes = (long)plan->request->bytes,
        .message.datatype = find_datatype(plan->request->datatype),
        .message.type = MPI_DATATYPE_NULL,
        .message.reduction = MPI_OP_NULL,
        .window.pending = 1,
        .form = plan->form,
        .operation = plan->operation,
        .initiate = plan->operation->forms[plan->form],
        .choices = plan->choices,
    };
    const int root = (int)plan->request->root;
    call.peers.first = (int)read_choice(&call, &from_choice);
    call.peers.second = (int)read_choice(&call, &to_choice);
    call.peers.root = plan->operation->ranks.between_two ? call.peers.first : root == ROTATING ? 0 : root;
    call.window.messages = count_messages(plan->operation, &call);
    return call;
}

void make_worker(const struct setting *setting, struct worker *worker) {
    struct call *call = &worker->call;
    *call = make_call(setting->plan, setting->team);
    worker->buffers = (struct buffers){.memory = find_memory_kind(setting->plan->request, setting->threads),
                                       .operation = setting->plan->operation};
    call->window.requests = obtain_memory(sizeof *call->window.requests * ((size_t)call->window.messages + 2));
    for (int i = 0; i < call->window.messages + 2; i++)
        call->window.requests[i] = MPI_REQUEST_NULL;
    if (!setting->team->idle)
        note_code(setting->outcome, make_type(call), "the datatype");
    call->seed = (unsigned)(worker - setting->workers) * THREADS_APART;
}

static void check_size(const struct setting *setting, double needed) {
    const struct call *call = first_call(setting);
    needed *= min(setting->world->ranks_on_host, setting->team->ranks);
    if (!setting->plan->operation->data.large && call->message.large_count > INT32_MAX)
        note(setting->outcome, REFUSED, "%ld bytes are more than 2^31-1 elements of type %s", call->message.bytes,
             call->message.datatype->name);
    else if (needed > 0.8 * read_free_memory())
        note(setting->outcome, REFUSED, "buffers of %.1f GiB on this host do not fit into %.1f GiB of free memory",
             needed / (1 << 30), read_free_memory() / (1 << 30));
}

/* This rank's share of the memory that cold buffers rotate through: twice the last-level cache for all ranks that share
 * it. */
static long find_cold_bytes(const struct setting *setting) {
    const struct world *world = setting->world;
    const int64_t share = 2 * world->last_level_cache_bytes / min(world->ranks_on_cache, setting->team->ranks);
    return (long)(share > LEAST_COLD_BYTES ? share : LEAST_COLD_BYTES);
}

void plan_memory(const struct setting *setting) {
    double needed = 0;
    EACH_WORKER(worker, setting)
        needed += (double)plan_buffers(&worker->buffers, &worker->call, find_cold_bytes(setting));
    check_size(setting, needed);
}

void allocate_memory(const struct setting *setting) {
    char reason[REASON_BYTES];
    EACH_WORKER(worker, setting)
        if (setting->outcome->severity == GOOD && !make_buffers(&worker->buffers, reason))
            note(setting->outcome, REFUSED, "rank %d: %s", setting->team->rank, reason);
}

/* Open MPI chooses algorithms when a communicator is created. */
static bool needs_communicators(const struct setting *setting) {
    return setting->threads > 1 || *setting->plan->request->settings ||
           read_case_choice(setting, &quantity_choice) == QUANTITY_MEMORY;
}

void make_communicators(const struct setting *setting) {
    if (needs_communicators(setting) && setting->team->members != MPI_COMM_NULL)
        EACH_WORKER(worker, setting) {
            MPI_Comm copy = MPI_COMM_NULL;
            note_code(setting->outcome, MPI_Comm_dup(setting->team->members, &copy), "MPI_Comm_dup");
            worker->call.peers.comm = worker->call.peers.members = copy;
        }
}

void prepare_worker(const struct setting *setting, struct worker *worker) {
    const struct plan *plan = setting->plan;
    struct call *call = &worker->call;
    note_code(setting->outcome, make_reduction(read_choice(call, &reduction_choice), &call->message.reduction), "MPI_Op_create");
    set_root(&worker->buffers, call, call->peers.root);
    if (plan->operation->hooks.prepare)
        note_code(setting->outcome, plan->operation->hooks.prepare(call), "preparation");
    set_root(&worker->buffers, call, call->peers.root);
    if (plan->form == PERSISTENT && !plan->operation->timing.completes && setting->outcome->severity == GOOD)
        note_code(setting->outcome, call->initiate(call), "initialisation");
}

void count_moves(const struct setting *setting) {
    const struct operation *operation = setting->plan->operation;
    const struct call *call = first_call(setting);
    const int64_t others = operation->ranks.between_two ? 1 : call->peers.ranks - 1;
    const int64_t bytes =
        find_amounts(operation, call, true).receive_bytes + others * find_amounts(operation, call, false).receive_bytes;
    const int64_t messages = call->message.bytes > 0 ? bytes / call->message.bytes : call->window.messages;
    setting->outcome->moved_bytes = setting->threads * (call->moved.messages ? call->moved.bytes : bytes);
    setting->outcome->moved_messages = setting->threads * (call->moved.messages ? call->moved.messages : messages);
}

void finish_worker(const struct setting *setting, struct worker *worker) {
    const struct plan *plan = setting->plan;
    struct call *call = &worker->call;
    if (plan->form == PERSISTENT && !plan->operation->timing.completes)
        for (int i = 0; i < call->window.pending; i++)
            if (call->window.requests[i] != MPI_REQUEST_NULL)
                note_code(setting->outcome, MPI_Request_free(&call->window.requests[i]), "MPI_Request_free");
    if (plan->operation->hooks.finish)
        plan->operation->hooks.finish(call);
    free_reduction(read_choice(call, &reduction_choice), &call->message.reduction);
}

void free_communicators(const struct setting *setting) {
    if (needs_communicators(setting) && setting->team->members != MPI_COMM_NULL)
        EACH_WORKER(worker, setting)
            if (worker->call.peers.comm != MPI_COMM_NULL)
                abort_on_error(MPI_Comm_free(&worker->call.peers.comm), "MPI_Comm_free");
}

void free_worker(struct worker *worker) {
    if (has_derived_type(&worker->call))
        MPI_Type_free(&worker->call.message.type);
    free(worker->call.window.requests);
    free_receipts(&worker->call);
    free_reference(&worker->reference);
    free_changes(&worker->buffers.changes);
    free_buffers(&worker->buffers);
}
