#include "control/fault/touch_count.h"

namespace railyard::fault {
namespace {

std::uint64_t drops(const PortCounters& port, const std::set<DropReason>& reasons) {
  std::uint64_t sum = 0;
  for (const DropReason reason : reasons) {
    const auto r = static_cast<std::size_t>(reason);
    sum += port.drops[r];
    for (const ClassCounters& c : port.classes) sum += c.drops[r];
  }
  return sum;
}

std::uint64_t sum_of(const DeviceCounters& counters, const std::map<PortIndex, PriorityMask>& where,
                     std::uint64_t ClassCounters::*counter) {
  std::uint64_t sum = 0;
  for (const auto& [port, classes] : where)
    for (std::uint8_t c = 0; c < kPriorities; ++c)
      if ((classes & bit(Priority{c})) != 0) sum += counters.ports[port.index()].classes[c].*counter;
  return sum;
}

}  // namespace

std::uint64_t TouchCount::of(const DeviceCounters& counters) const {
  std::uint64_t sum = 0;
  for (const PortCounters& port : counters.ports) sum += drops(port, anywhere);
  for (const PortIndex p : ports) {
    const PortCounters& port = counters.ports[p.index()];
    sum += drops(port, at_ports) + (with_link ? port.lost - port.lost_to_faults : 0);
  }
  for (const PortIndex p : misclassified) sum += counters.ports[p.index()].misclassified;
  return sum + sum_of(counters, pauses_sent, &ClassCounters::xoff_sent) +
         sum_of(counters, pauses_received, &ClassCounters::xoff_received) +
         sum_of(counters, marks, &ClassCounters::ecn_marked);
}

}  // namespace railyard::fault
