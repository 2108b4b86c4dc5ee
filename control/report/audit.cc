#include "control/report/audit.h"

#include <fmt/format.h>

namespace railyard::report {
namespace {

// Channel by channel: what was sent has arrived, was lost, or is on its way.
void audit_wires(build::BuiltLab& lab, const std::vector<DeviceCounters>& devices, Audit& audit) {
  for (std::size_t i = 0; i < lab.fabric().channels().size(); ++i) {
    Channel& c = lab.fabric().channels()[i];
    const PortRef from = lab.fabric().sender(i);
    const PortCounters& sender = devices[from.device.index()].ports[from.port.index()];
    const PortCounters& receiver = devices[c.receiver.index()].ports[c.receiver_port.index()];
    const std::uint64_t on_the_wire = c.in_flight() + receiver.held_back;
    audit.on_the_wire += on_the_wire;
    const std::uint64_t sent = sender.tx_packets() + sender.tx_control;
    if (sent + receiver.duplicated == receiver.delivered + receiver.lost + on_the_wire) continue;
    audit.balanced = false;
    audit.unbalanced.push_back(
        fmt::format("{}:{} sent {} + duplicated {} is not received {} + lost {} + on the wire {}",
                    devices[from.device.index()].name, from.port.value + 1, sent, receiver.duplicated,
                    receiver.delivered, receiver.lost, on_the_wire));
  }
}

}  // namespace

Audit audit(build::BuiltLab& lab, const std::vector<DeviceCounters>& devices) {
  Audit a;
  for (const DeviceCounters& c : devices) {
    if (!c.balanced()) {
      a.balanced = false;
      a.unbalanced.push_back(
          fmt::format("{}: received {} + generated {} is not sent {} + consumed {} + dropped {} + queued {}", c.name,
                      c.received(), c.generated, c.sent(), c.consumed, c.dropped(), c.queued));
    }
    a.generated += c.generated;
    a.consumed += c.consumed;
    a.dropped += c.dropped();
    a.queued += c.queued;
    for (const PortCounters& p : c.ports) a.lost_on_links += p.lost;
  }
  audit_wires(lab, devices, a);
  a.drained = a.queued == 0 && a.on_the_wire == 0;
  return a;
}

}  // namespace railyard::report
