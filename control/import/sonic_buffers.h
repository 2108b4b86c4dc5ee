// Buffers of priority groups and queues of a SONiC switch: BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE.
#pragma once

#include <vector>

#include "control/import/pg_profile_lookup.h"
#include "control/import/sonic_maps.h"

namespace railyard::importing {

// Throws SpecError for names that are none, for thresholds that contradict each other, and for a class with PFC whose
// group has no headroom.
SwitchBuffers read_buffers(const ConfigDb& db, const std::vector<PortConfig>& ports, const ClassMaps& maps,
                          const PgProfileLookup& lookup);

}  // namespace railyard::importing
