// Which hosts share a scale-up network (`hosts.NAME.scale-up`).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "control/spec/spec.h"

namespace railyard::spec {

// Networks and their hosts are numbered from 0, in the order of the lab.
struct ScaleUpPlace {
  std::uint32_t network = 0;
  std::uint32_t host = 0;  // which of the network's

  bool operator==(const ScaleUpPlace&) const = default;
};

// By name, hosts whose profile has a scale-up network. Of each profile the first `scale-up.hosts` hosts share one, then
// as many again; the last network has those that are left.
std::map<std::string, ScaleUpPlace> scale_up_places(const Lab& lab);

}  // namespace railyard::spec
