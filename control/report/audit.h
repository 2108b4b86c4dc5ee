// The books of a lab: what was sent is accounted for, device by device and wire by wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/build/built_lab.h"
#include "dataplane/device/counters.h"

namespace railyard::report {

struct Audit {
  bool balanced = true;
  std::vector<std::string> unbalanced;  // devices and what is wrong with them
  std::uint64_t generated = 0;
  std::uint64_t consumed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t lost_on_links = 0;
  std::uint64_t queued = 0;
  std::uint64_t on_the_wire = 0;
  bool drained = false;  // nothing is left anywhere
};

// Of a lab that rests, all devices done up to the same instant. `devices`: their counters, in the lab's order.
Audit audit(build::BuiltLab& lab, const std::vector<DeviceCounters>& devices);

}  // namespace railyard::report
