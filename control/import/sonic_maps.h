// From the DSCP of a packet to its queue and priority group, and which of them pause: PORT_QOS_MAP and the maps it
// names.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "control/import/sonic_ports.h"

namespace railyard::importing {

inline constexpr std::size_t kClasses = 8;

// A class of the fabric file is a queue of the switch. Its ingress group is the priority group of the first traffic
// class (TC) that leads to the queue.
struct SonicMaps {
  bool trust_pcp = false;  // dot1p_to_tc_map and no dscp_to_tc_map
  std::array<int, 64> class_of_dscp{};
  std::array<int, 8> class_of_pcp{};
  std::array<bool, kClasses> is_reached{};  // some code point leads to the class
  std::array<int, kClasses> group_of_class{0, 1, 2, 3, 4, 5, 6, 7};
  std::map<int, int> dscp_of_tc;  // tc_to_dscp_map, for trimmed packets
  std::vector<std::array<bool, kClasses>>
      has_pfc;  // by port, in the order of the ports: the class pauses and is paused
};

// The maps that most linked ports name; those of others are left out with a reason. Throws SpecError for a name that is
// none, a TC or queue above 7, and PFC for a priority whose queue no code point leads to.
SonicMaps read_maps(const ConfigDb& db, const std::vector<SonicPort>& ports);

}  // namespace railyard::importing
