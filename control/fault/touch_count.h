// What a fault of state costs: frames that its device and links lose because of it.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "dataplane/base/drop_reason.h"
#include "dataplane/base/ids.h"
#include "dataplane/device/counters.h"

namespace railyard::fault {

// Which of a device's losses are those of a fault while it lasts. What else loses frames so at that time, such as
// another fault of the same link, is counted as well.
struct LossCount {
  std::set<PortIndex> ports;
  bool with_link = false;         // of `ports`: on the wire to them when the link went down
  std::set<DropReason> at_ports;  // of `ports`
  std::set<DropReason> anywhere;  // of all ports of the device

  bool empty() const noexcept { return !with_link && at_ports.empty() && anywhere.empty(); }
  std::uint64_t of(const DeviceCounters& counters) const;
};

}  // namespace railyard::fault
