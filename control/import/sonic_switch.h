// A SONiC switch as its configuration describes it: ports, classes, memory, watchdog, trimming.
#pragma once

#include "control/import/sonic_buffers.h"
#include "control/import/sonic_queues.h"

namespace railyard::importing {

// Throws SpecError for what contradicts itself, with table, key and field. What has no counterpart remains in
// db.left_out().
SwitchConfig read_switch(const ConfigDb& db, const PgProfileLookup& lookup);

}  // namespace railyard::importing
