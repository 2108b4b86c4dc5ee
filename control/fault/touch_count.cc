#include "control/fault/loss_count.h"

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

}  // namespace

std::uint64_t LossCount::of(const DeviceCounters& counters) const {
  std::uint64_t sum = 0;
  for (const PortCounters& port : counters.ports) sum += drops(port, anywhere);
  for (const PortIndex p : ports) {
    const PortCounters& port = counters.ports[p.index()];
    sum += drops(port, at_ports) + (with_link ? port.lost - port.lost_to_faults : 0);
  }
  return sum;
}

}  // namespace railyard::fault
