// What a switch tells of itself.
#include <utility>

#include "dataplane/switch/switch.h"

namespace railyard {

void Switch::for_each_held(const std::function<void(const Packet&)>& see) const {
  for (const EgressPort& e : egress_) e.for_each_queued(see);
  for (const Carried& c : carried_) see(*c.arrival.packet);
  for (const Arrival& a : awaiting_) see(*a.packet);
}

QueueSample Switch::queue_sample(PortIndex port, Priority priority) const {
  const std::size_t i = index(port, priority);
  QueueSample s = egress_[port.index()].sample(priority, done());
  s.ingress_cells = groups_[i].held;
  s.ecn_marked = queues_[i].marked.read();
  s.dropped = drops_by_class_[i].total();
  return s;
}

void Switch::count_live(DeviceCounters& c) const {
  c.generated = generated_.read();
  c.consumed = consumed_.read();
  for (std::size_t p = 0; p < ports(); ++p) {
    const PortIndex port{static_cast<std::uint16_t>(p)};
    PortCounters& out = c.ports[p];
    out.rx_control = rx_control_[p].read();
    out.tx_control = egress_[p].tx_control();
    out.misclassified = misclassified_[p].read();
    out.quality_reports_sent = quality_reports_[p].sent.read();
    out.quality_reports_received = quality_reports_[p].heard.read();
    egress_[p].count_credits(out);
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      const std::size_t i = index(port, Priority{k});
      ClassCounters o;
      egress_[p].count_live(Priority{k}, o);
      o.ecn_marked = queues_[i].marked.read();
      o.rx_packets = groups_[i].rx_packets.read();
      o.rx_octets = groups_[i].rx_octets.read();
      o.drops = drops_by_class_[i].read();
      o.rdma_drops = rdma_drops_by_class_[i].read();
      o.trimmed = history_[i].trimmed.read();
      o.storms_detected = history_[i].storms_detected.read();
      o.storms_restored = history_[i].storms_restored.read();
      out.classes.set(k, o);
    }
    out.drops = drops_by_port_[p].read();
  }
  for (const Mmu::Group& g : groups_) c.buffer_cells += g.held.read();
  // What the switch made itself and then dropped belongs to no port; it is shown with the first.
  for (std::size_t k = 0; k < kPriorities; ++k) {
    c.ports[0].drops.add(drops_by_class_[ports() * kPriorities + k].read());
  }
}

void Switch::count_rest(DeviceCounters& c) const {
  c.queued = carried_.size() + awaiting_.size();
  c.max_shared_cells = mmu_.max_shared_used();
  for (const NextHops& group : forwarding_.groups()) {
    if (group.count < 2) continue;
    PathGroupCounters& out = c.path_groups.emplace_back();
    for (std::uint32_t i = 0; i < group.count; ++i) {
      const PathShares::Member& share = paths_.shares()[group.first + i];
      out.members.push_back({forwarding_.member(group, i), share.packets.read(), share.octets.read()});
    }
  }
  for (const PathShares::Past& past : paths_.shares().past()) {
    PathGroupCounters& out = c.path_groups.emplace_back();
    for (std::size_t i = 0; i < past.ports.size(); ++i)
      out.members.push_back({past.ports[i], past.members[i].packets.read(), past.members[i].octets.read()});
  }
  for (std::size_t p = 0; p < ports(); ++p) {
    const EgressPort& e = egress_[p];
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      const Priority priority{k};
      c.queued += e.queue(priority).size();
      ClassCounters o = std::as_const(c.ports[p].classes)[k];
      o.paused = e.paused_time(priority, c.at);
      o.stalled = e.stalled_time(priority, c.at);
      const Mmu::Group& g = groups_[index(PortIndex{static_cast<std::uint16_t>(p)}, priority)];
      o.ingress_cells = g.held;
      o.max_ingress_cells = g.max_held;
      o.headroom_cells = g.headroom;
      o.max_headroom_cells = g.max_headroom;
      const QueueHistory& h = history_[index(PortIndex{static_cast<std::uint16_t>(p)}, priority)];
      o.first_ce = h.first_ce;
      o.first_xoff = h.first_xoff;
      c.ports[p].classes.set(k, o);
    }
  }
}

}  // namespace railyard
