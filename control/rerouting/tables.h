// Tables of a lab as people and programs read them: `railyard routes`, `railyard path`, and the same of a lab that is
// up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/build/built_lab.h"
#include "control/rerouting/route_updates.h"

namespace railyard::rerouting {

// The reactions of routing so far, as reports have them.
nlohmann::ordered_json reroutings_json(const std::vector<Rerouting>& reroutings);

// What the switches forward by at the instant reached: of `node`, or of all. While the engine rests. Throws
// std::out_of_range if there is no such switch.
nlohmann::ordered_json routes_json(build::BuiltLab& lab, const RouteUpdates& updates,
                                   const std::optional<std::string>& node);

// A flow, by what switches see of it.
struct FlowKey {
  spec::PortName from;
  spec::PortName to;
  int ip_version = 4;
  int dscp = 26;
  int source_port = 0xC000;  // UDP
  int destination_port = 4791;
  int destination_qp = 0x11;
  std::optional<int> entropy = {};  // of UET, in the place of the queue pair
  bool any_entropy = false;         // each packet has another: all ways
};

// The way of such a flow at the instant reached, hop by hop, and why. Where the next hop depends on the moment or the
// packet, all that it may be. While the engine rests. Throws std::out_of_range if there is no such NIC, and
// spec::SpecError if it has no address of the family.
nlohmann::ordered_json path_json(build::BuiltLab& lab, const FlowKey& key);

}  // namespace railyard::rerouting
