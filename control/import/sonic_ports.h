// The ports of a SONiC switch, their links and who is at the other end: PORT, CABLE_LENGTH, DEVICE_NEIGHBOR.
#pragma once

#include <string>
#include <vector>

#include "control/import/config_db.h"
#include "control/import/port_list.h"
#include "control/import/switch_config.h"

namespace railyard::importing {

// All ports, in the order of their numbers. A port has a link unless it is down (PORT: admin_status) or leads inside
// the chassis (PORT: role). `switch_name` is taken. Throws SpecError for a speed that no Ethernet port has, a length
// that is none, or if no port has a link.
std::vector<PortConfig> read_ports(const ConfigDb& db, const std::string& switch_name);

// The port of this name; `row` names it. Throws SpecError if there is none.
const PortConfig& port_named(const std::vector<PortConfig>& ports, const std::string& name, const Row& row);

}  // namespace railyard::importing
