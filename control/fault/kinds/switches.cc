// Kinds of faults of switches, their ports and queues.
#include <utility>
#include <vector>

#include "control/fault/state_changes.h"

namespace railyard::spec::fault {

using railyard::fault::TouchCount;

void DscpMap::change(Changes& c, const FaultPlace& at) const {
  const std::vector<std::pair<int, int>> wrong(to_class.begin(), to_class.end());
  for (const PortRef port : c.ports(at)) {
    Switch& d = c.sw(port.device);
    c.add(
        port.device, [&d, port, id = c.id(), wrong](Instant) { d.begin_wrong_dscp_map(id, port.port, wrong); },
        [&d, port, id = c.id()](Instant) { d.end_wrong_dscp_map(id, port.port); });
    c.touches(port.device).misclassified.insert(port.port);
  }
}

void EcnThresholds::change(Changes& c, const FaultPlace& at) const {
  EcnConfig ecn;
  ecn.enabled = true;
  ecn.kmin = kmin;
  ecn.kmax = kmax;
  ecn.pmax_ppm = pmax_ppm;
  for (const PortRef port : c.ports(at)) {
    Switch& d = c.sw(port.device);
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      // All classes that mark, unless the place names one.
      if (at.traffic_class >= 0 ? at.traffic_class != k : !d.config().ports[port.port.index()].classes[k].ecn.enabled)
        continue;
      c.add(
          port.device, [&d, port, id = c.id(), k, ecn](Instant) { d.begin_wrong_ecn(id, port.port, Priority{k}, ecn); },
          [&d, port, id = c.id(), k](Instant) { d.end_wrong_ecn(id, port.port, Priority{k}); });
      c.counts(port, bit(Priority{k}), &TouchCount::marks);
    }
  }
}

void BufferTaken::change(Changes& c, const FaultPlace& at) const {
  for (const DeviceId device : c.devices(at)) {
    Switch& d = c.sw(device);
    c.add(
        device, [&d, id = c.id(), taken = size](Instant now) { d.begin_buffer_taken(now, id, taken); },
        [&d, id = c.id()](Instant now) { d.end_buffer_taken(now, id); });
  }
}

void Crash::change(Changes& c, const FaultPlace& at) const {
  for (const DeviceId device : c.devices(at)) {
    Switch& d = c.sw(device);
    c.add(
        device, [&d](Instant now) { d.crash(now); }, [](Instant) {});
    c.counts(device, DropReason::kCrash);
  }
  for (const PortRef end : c.link_ends(at)) c.take_down(end);
}

// Routing hears of it and does the rest.
void Drained::change(Changes& c, const FaultPlace& at) const {
  for (const DeviceId device : c.devices(at)) {
    Switch& d = c.sw(device);
    c.add(
        device, [&d](Instant now) { d.note_drained(now, true); }, [&d](Instant now) { d.note_drained(now, false); });
  }
}

}  // namespace railyard::spec::fault
