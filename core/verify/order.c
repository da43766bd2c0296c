#include "verify/order.h"

#include <math.h>

#include "base/tree.h"
#include "base/wait.h"
#include "sync/clock.h"

enum { LATE_NS = 200000, TAG_ANNOUNCED = 7051 };

void compare_order_clocks(const struct setting *setting) {
    synchronise(setting->team, setting->world->source, setting->world->synchronisation);
}

void announce(const struct setting *setting, int rank) {
    send_bytes(setting->team, NULL, 0, rank, TAG_ANNOUNCED);
}

void await_announcement(const struct setting *setting, int rank) {
    receive_bytes(setting->team, NULL, 0, rank, TAG_ANNOUNCED);
}

int64_t come_late(const struct setting *setting) {
    const struct world *world = setting->world;
    const struct stage waiting = {.read_ns = world->source->read_ns, .yields = world->yields};
    return wait_until(&waiting, world->source->read_ns() + LATE_NS + 4 * setting->team->clock->worst_bound_ns);
}

/* How wrong a reading can be: by its clock's offset, and by what a reading itself takes. */
static int64_t doubt_ns(const struct setting *setting, const struct reading *reading) {
    const struct source_fact *fact = fact_of(setting->world->sources, setting->world->source->name);
    return (int64_t)ceil(reading->bound_ns + fact->cost_ns) + fact->resolution_ns + setting->team->clock->step_ns;
}

int64_t earliest(const struct setting *setting, int64_t local_ns) {
    const struct reading reading = known(setting->team->clock, local_ns);
    return local_ns - llround(reading.offset_ns) - doubt_ns(setting, &reading);
}

int64_t latest(const struct setting *setting, int64_t local_ns) {
    const struct reading reading = known(setting->team->clock, local_ns);
    return local_ns - llround(reading.offset_ns) + doubt_ns(setting, &reading);
}
