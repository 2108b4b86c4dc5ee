// What a switch tells of itself.
#include "dataplane/switch/switch.h"

namespace railyard {

void Switch::for_each_held(const std::function<void(const Packet&)>& see) const {
  for (const EgressPort& e : egress_) e.for_each_queued(see);
  for (const Carried& c : carried_) see(*c.arrival.packet);
  for (const Arrival& a : awaiting_) see(*a.packet);
}

void Switch::count(DeviceCounters& c) const {
  c.generated = generated_.read();
  c.consumed = consumed_.read();
  c.queued = carried_.size() + awaiting_.size();
  for (const Mmu::Group& g : groups_) c.buffer_cells += g.held;
  c.max_shared_cells = mmu_.max_shared_used();
  for (std::size_t p = 0; p < ports(); ++p) {
    const PortIndex port{static_cast<std::uint16_t>(p)};
    const EgressPort& e = egress_[p];
    PortCounters& out = c.ports[p];
    out.rx_control = rx_control_[p].read();
    out.tx_control = e.tx_control();
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      const Priority priority{k};
      const std::size_t i = index(port, priority);
      ClassCounters& o = out.classes[k];
      c.queued += e.queue(priority).size();
      e.count(priority, c.at, o);
      o.ecn_marked = queues_[i].marked.read();
      const Mmu::Group& g = groups_[i];
      o.rx_packets = g.rx_packets.read();
      o.rx_octets = g.rx_octets.read();
      o.ingress_cells = g.held;
      o.max_ingress_cells = g.max_held;
      o.headroom_cells = g.headroom;
      o.max_headroom_cells = g.max_headroom;
      o.drops = drops_by_class_[i];
    }
    out.drops = drops_by_port_[p];
  }
  // What the switch made itself and then dropped belongs to no port; it is shown with the first.
  for (std::size_t k = 0; k < kPriorities; ++k)
    for (std::size_t r = 0; r < kDropReasons; ++r) c.ports[0].drops[r] += drops_by_class_[ports() * kPriorities + k][r];
}

}  // namespace railyard
