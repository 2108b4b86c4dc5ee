// The Ethernet ports of a running-config, and what EOS and NX-OS say of them alike.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/import/port_list.h"
#include "control/import/running_config.h"

namespace railyard::importing {

// An `interface Ethernet...` with all blocks that name it.
struct LinePort {
  PortConfig config;
  std::vector<const ConfigLine*> blocks;  // in the order of the file
  bool says_speed = false;
  bool says_mtu = false;
  bool is_routed = false;  // no switchport

  // The last line of its blocks that begins so: a later one replaces an earlier one.
  const ConfigLine* last(std::initializer_list<std::string_view> with) const;
};

// In the order of the numbers in their names. Reads speed, mtu, shutdown, description (its first word names the host
// behind the port) and the form of switchport. A port without a speed has that of most ports that say one, or else 100
// Gb/s; `notes` says so. Throws SpecError for a speed that no Ethernet port has, an MTU that is none, or if no port has
// a link.
std::vector<LinePort> read_line_ports(const RunningConfig& config, const std::string& switch_name,
                                      std::vector<std::string>& notes);

// A number for each linked port that says no MTU.
void set_missing_mtus(std::vector<LinePort>& ports, const std::function<std::int64_t(const LinePort&)>& mtu);

std::vector<PortConfig> configs_of(const std::vector<LinePort>& ports);

}  // namespace railyard::importing
