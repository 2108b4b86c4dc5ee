// The ports of a SONiC switch, their links and who is at the other end: PORT, CABLE_LENGTH, DEVICE_NEIGHBOR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/import/config_db.h"

namespace railyard::importing {

struct SonicPort {
  const Row* row = nullptr;
  std::string name;        // "Ethernet4"
  int number = 0;          // of the fabric file: from 1, in the order of the numbers in the names
  std::int64_t speed = 0;  // Mb/s
  std::int64_t mtu = 9100;
  std::string cable;  // "5m"; empty: nobody says
  bool linked = false;
  std::string peer;  // name of the host behind it, if it is linked
};

// Letters, digits, '-' and '_', as the names of nodes in a fabric file.
std::string node_name(const std::string& name);

// All ports, in the order of their numbers. A port has a link unless it is down (PORT: admin_status) or leads inside
// the chassis (PORT: role). `switch_name` is taken. Throws SpecError for a speed that no Ethernet port has, a length
// that is none, or if no port has a link.
std::vector<SonicPort> read_ports(const ConfigDb& db, const std::string& switch_name);

// The port of this name; `row` names it. Throws SpecError if there is none.
const SonicPort& port_named(const std::vector<SonicPort>& ports, const std::string& name, const Row& row);

}  // namespace railyard::importing
