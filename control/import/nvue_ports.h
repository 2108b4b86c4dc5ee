// The switch ports of Cumulus Linux: interface swp1, swp2s0, ...
#pragma once

#include <string>
#include <vector>

#include "control/import/nvue_tree.h"
#include "control/import/port_list.h"

namespace railyard::importing {

struct NvuePort {
  PortConfig config;
  std::vector<const spec::Tree*> said;  // each `interface` entry that names it, in the order of the file
  bool says_speed = false;

  // The last of its entries that has these keys; nullptr if none has.
  const spec::Tree* last(std::initializer_list<std::string_view> keys) const;
};

// In the order of the numbers in their names: speed, mtu, state, description (the host behind the port). A port that is
// broken out has no link; its parts have. `notes` says where a speed is taken, since nobody says it. Throws SpecError
// for names, speeds and MTUs that are none, or if no port has a link.
std::vector<NvuePort> read_nvue_ports(const NvueTree& tree, const std::string& switch_name,
                                      std::vector<std::string>& notes);

}  // namespace railyard::importing
