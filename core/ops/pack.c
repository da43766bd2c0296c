#include "base/allocation.h"
#include "kit/calls.h"
#include "kit/data.h"

/* The packed message, which `pack` makes and `unpack` reads, outside the core's buffers, since it has no datatype. */
struct packed {
    int room;
    int bytes;
    unsigned char data[];
};

static int prepare(struct call *call) {
    int room;
    const int code = MPI_Pack_size(call->message.count, call->message.type, call->peers.comm, &room);
    if (code)
        return code;
    struct packed *packed = call->state = try_memory(sizeof *packed + (size_t)room);
    if (!packed)
        return MPI_ERR_NO_MEM;
    packed->room = room;
    return MPI_SUCCESS;
}

static int pack(struct call *call) {
    struct packed *packed = call->state;
    packed->bytes = 0;
    return MPI_Pack(call->buffers.send, call->message.count, call->message.type, packed->data, packed->room, &packed->bytes,
                    call->peers.comm);
}

static int unpack(struct call *call) {
    struct packed *packed = call->state;
    int position = 0;
    return MPI_Unpack(packed->data, packed->bytes, &position, call->buffers.receive, call->message.count, call->message.type,
                      call->peers.comm);
}

static const char *refuse(const struct call *call) {
    return call->message.bytes > INT32_MAX ? "the packed bytes exceed an int" : NULL;
}

#define PACK \
    .kind = KIND_LOCAL, .metric = METRIC_TIME, SENDS({.base = 1}), RECEIVES({.base = 1}), .standard = "MPI-4.1 5.2", \
    .data.sized = true, .timing.rank_0_measures = true, .timing.threads = true, .timing.start = "none", .hooks.refuse = refuse, \
    .hooks.prepare = prepare, .hooks.finish = free_state, .hooks.fill = fill_same, .hooks.check = check_same

static const struct operation pack_row = {
    .name = "pack",
    .help = "packs a message into contiguous memory; unpacked for the check, untimed",
    PACK,
    .forms = {pack},
    .hooks.after = unpack,
};

static const struct operation unpack_row = {
    .name = "unpack",
    .help = "unpacks a message from contiguous memory; packed before, untimed",
    PACK,
    .forms = {unpack},
    .hooks.before = pack,
};
REGISTER(operation, pack_row);
REGISTER(operation, unpack_row);
