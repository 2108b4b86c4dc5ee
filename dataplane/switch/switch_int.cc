// In-band telemetry: what the switch notes of sampled packets on their way through (packet/int_stack.h).
#include <utility>

#include "dataplane/base/planted_bug.h"
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

}  // namespace railyard
