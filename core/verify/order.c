#include "verify/order.h"

#include <math.h>

#include "base/tree.h"
#include "base/wait.h"
#include "kit/modes.h"
#include "sync/clock.h"

enum { TAG_ANNOUNCED = 7051 };

struct pair find_pair(const struct setting *setting, long most_bytes, bool upper) {
    const struct call *call = first_call(setting);
    const bool two = setting->plan->operation->ranks.between_two;
    const int other = two ? find_other(call) : call->peers.rank ^ 1;
    return (struct pair){
        .other = other < call->peers.ranks || two ? other : call->peers.rank,
        .bytes = (int)(call->message.bytes < most_bytes ? call->message.bytes : most_bytes),
        .sends = (call->peers.rank > other) == upper,
    };
}

void synchronise_for_order(const struct setting *setting) {
    synchronise(setting->team, setting->world->source, setting->world->synchronisation);
}

void announce(const struct setting *setting, int rank) {
    send_bytes(setting->team, NULL, 0, rank, TAG_ANNOUNCED);
}

void wait_for_announcement(const struct setting *setting, int rank) {
    receive_bytes(setting->team, NULL, 0, rank, TAG_ANNOUNCED);
}

int64_t wait_late(const struct setting *setting, int64_t late_ns) {
    const struct world *world = setting->world;
    const struct stage waiting = {.read_ns = world->source->read_ns, .yields = world->yields};
    return wait_until(&waiting, world->source->read_ns() + late_ns + 4 * setting->team->clock->worst_bound_ns);
}

/* Largest error of a reading: that of the clock's offset, and the cost and resolution of reading. */
static int64_t find_error_ns(const struct setting *setting, const struct reading *reading) {
    const struct source_fact *fact = find_source_fact(setting->world->sources, setting->world->source->name);
    return (int64_t)ceil(reading->bound_ns + fact->cost_ns) + fact->resolution_ns + setting->team->clock->step_ns;
}

int64_t find_earliest_ns(const struct setting *setting, int64_t local_ns) {
    const struct reading reading = find_offset(setting->team->clock, local_ns);
    return local_ns - llround(reading.offset_ns) - find_error_ns(setting, &reading);
}

int64_t find_latest_ns(const struct setting *setting, int64_t local_ns) {
    const struct reading reading = find_offset(setting->team->clock, local_ns);
    return local_ns - llround(reading.offset_ns) + find_error_ns(setting, &reading);
}
