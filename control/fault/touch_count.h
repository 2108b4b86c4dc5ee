// What a fault of state does to frames, as far as its device counts that: frames that the device and its links lose
// because of it, pause frames that it sends or ignores, frames that it marks or puts into another class.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "dataplane/base/drop_reason.h"
#include "dataplane/base/ids.h"
#include "dataplane/device/counters.h"

namespace railyard::fault {

// Which of a device's counters are those of a fault while it lasts. What else counts there at that time, such as
// another fault of the same link, or a port's own pause frames beside those of a storm, is counted as well.
struct TouchCount {
  std::set<PortIndex> ports;
  bool with_link = false;         // of `ports`: on the wire to them when the link went down
  std::set<DropReason> at_ports;  // drops of `ports`
  std::set<DropReason> anywhere;  // drops of all ports of the device
  // Of these ports and classes: PFC frames with a pause time sent, or received; frames given CE on their way out.
  std::map<PortIndex, PriorityMask> pauses_sent;
  std::map<PortIndex, PriorityMask> pauses_received;
  std::map<PortIndex, PriorityMask> marks;
  std::set<PortIndex> misclassified;  // frames that came in there and were put into a class not theirs

  bool empty() const noexcept {
    return !with_link && at_ports.empty() && anywhere.empty() && pauses_sent.empty() && pauses_received.empty() &&
           marks.empty() && misclassified.empty();
  }
  std::uint64_t of(const DeviceCounters& counters) const;
};

}  // namespace railyard::fault
