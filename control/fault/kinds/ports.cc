// Kinds of faults of ports of switches and hosts.
#include "control/fault/state_changes.h"

namespace railyard::spec::fault {

using railyard::fault::TouchCount;

void PfcStorm::change(Changes& c, const FaultPlace& at) const {
  PriorityMask mask = 0;
  for (const int k : classes) mask = static_cast<PriorityMask>(mask | bit(Priority{static_cast<std::uint8_t>(k)}));
  for (const PortRef port : c.ports(at))
    c.of_port(port, [&](auto& d) {
      c.add(
          port.device, [&d, port, id = c.id(), mask](Instant now) { d.begin_pfc_storm(now, id, port.port, mask); },
          [&d, port, id = c.id()](Instant now) { d.end_pfc_storm(now, id, port.port); });
      c.counts(port, mask, &TouchCount::pauses_sent);
    });
}

void IgnorePause::change(Changes& c, const FaultPlace& at) const {
  for (const PortRef port : c.ports(at))
    c.of_port(port, [&](auto& d) {
      c.add(
          port.device, [&d, port, id = c.id()](Instant now) { d.begin_ignoring_pauses(now, id, port.port); },
          [&d, port, id = c.id()](Instant now) { d.end_ignoring_pauses(now, id, port.port); });
      c.counts(port, PriorityMask{0xFF}, &TouchCount::pauses_received);
    });
}

void Mtu::change(Changes& c, const FaultPlace& at) const {
  const auto largest = static_cast<std::uint32_t>(octets);
  for (const PortRef port : c.ports(at))
    c.of_port(port, [&](auto& d) {
      c.add(
          port.device, [&d, port, id = c.id(), largest](Instant) { d.begin_mtu(id, port.port, largest); },
          [&d, port, id = c.id()](Instant) { d.end_mtu(id, port.port); });
      c.counts(port, DropReason::kGiant);
      c.counts(port.device, DropReason::kTooBig);  // counted where the frame came in
    });
}

}  // namespace railyard::spec::fault
