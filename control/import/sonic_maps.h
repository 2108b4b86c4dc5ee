// From the DSCP of a packet to its queue and priority group, and which of them pause: PORT_QOS_MAP and the maps it
// names.
#pragma once

#include <vector>

#include "control/import/sonic_ports.h"

namespace railyard::importing {

// The maps that most linked ports name; those of others are left out with a reason. Throws SpecError for a name that is
// none, a TC or queue above 7, and PFC for a priority whose queue no code point leads to.
ClassMaps read_maps(const ConfigDb& db, const std::vector<PortConfig>& ports);

}  // namespace railyard::importing
