// A plan as a fabric file.
#pragma once

#include <string>

#include "control/plan/cabling.h"
#include "control/plan/sizing.h"

namespace railyard::plan {

// "topology:" by a preset, of the nodes of `level`. Pods of three tiers are complete in it: it may have more nodes.
std::string topology_text(const Shape& shape, const Level& level, const std::vector<CableRow>& cables);
// Whether each NIC is a host of its own in it, and the hosts of a node share a scale-up network: presets of three tiers
// have no hosts with several NICs at one leaf.
bool has_host_for_each_nic(const Shape& shape) noexcept;
// Hosts in it.
int hosts_in_topology(const Shape& shape, const Level& level) noexcept;

// "switches:" and "hosts:".
std::string switches_text(const Request& request, const SwitchChoice& chosen, const Shape& shape);
std::string hosts_text(const Request& request, bool host_for_each_nic);

// The whole file, which `railyard check`, `run` and `up` take: each NIC sends to another one. `reduction`: for the
// comment; 1: at full size.
std::string fabric_file(const Request& request, const SwitchChoice& chosen, const Shape& shape,
                        const std::vector<CableRow>& cables, int reduction, const std::string& command);

}  // namespace railyard::plan
