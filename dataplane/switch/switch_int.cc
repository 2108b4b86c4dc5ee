// In-band telemetry: what the switch notes of sampled packets on their way through (packet/int_stack.h), and what it
// adds to those that carry it on the wire (packet/carried_telemetry.h).
#include <utility>

#include "dataplane/base/hash.h"
#include "dataplane/base/planted_bug.h"
#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/switch/switch.h"

namespace railyard {

void Switch::on_record_int() { watches_ = !watched_.empty() || records_int(); }

// Ahead of their turns: a frame that is cut through may be put off, and its arrival is not.
void Switch::note_arrivals() {
  for (bool first = true; const Arrival& a : arrivals()) {
    if (planted(PlantedBug::kIntLostRecord) && !std::exchange(first, false)) return;
    if (EventKey::kind(a.key) != EventKind::kArrival) continue;
    IntStack* const stack = int_stack(*a.packet);
    if (stack == nullptr) [[likely]]
      continue;
    const PortIndex in{static_cast<std::uint16_t>(EventKey::port(a.key))};
    // Who marked it before does not count here.
    a.packet->flags = static_cast<std::uint8_t>(a.packet->flags & ~unsigned{Packet::kMarkedHere});
    int_arrival(*stack, EventKey::time(key_base(), a.key), in, classify(*facts_[in.index()].trust, *a.packet),
                *a.packet);
  }
}

// A frame has been put into its queue.
void Switch::look_at_queue(Instant now, const Arrival& a) {
  const Priority noted = planted(PlantedBug::kIntOtherQueue) ? Priority{0} : Priority{a.priority};
  if (IntStack* stack = int_stack(*a.packet); stack != nullptr)
    stack->queue(PortIndex{a.port}, Priority{a.priority}, now,
                 egress_[a.port].depth(noted) - (noted.value == a.priority ? a.octets : 0u));
  if (!watched_.empty()) look_at_depth(now, a);
}

// HPCC section 4.1: as the frame leaves its queue. DEVIATION: pathID tells ports, not switches, so that of two links
// between two switches each has its own counters; txBytes has what the line was used for, preambles and gaps included,
// so that a full link has txRate = B with frames of any length.
void Switch::add_hop(Instant now, PortIndex port, Priority priority, Packet& packet) {
  EgressPort& e = egress_[port.index()];
  const std::uint64_t behind = e.depth(priority) - e.sending().octets;
  const HopTelemetry hop{.at_ns = static_cast<std::uint32_t>(now.ps / 1000),
                         .sent = static_cast<std::uint32_t>(e.line_octets() / HopTelemetry::kSentOctets),
                         .queue = static_cast<std::uint32_t>(behind / HopTelemetry::kQueueOctets),
                         .rate = telemetry_rates_[port.index()]};
  const auto path = static_cast<std::uint16_t>(mix64(std::uint64_t{id().value} << 16 | port.value) & 0xFFF);
  if (const std::uint32_t octets = add_telemetry(packet, hop, path); octets > 0) e.lengthen(octets);
}

}  // namespace railyard
