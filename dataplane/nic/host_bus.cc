// Hosts that give and take frames more slowly than their links: over buses of their own, or over one that NICs share.
#include <algorithm>

#include "dataplane/nic/host.h"

namespace railyard {

// Frames come one at a time, and of all classes in turn.
void Host::take_in_turn(Instant now, Nic& nic, unsigned classes) {
  if (classes == 0 || !has_turn(now, nic)) return;
  for (unsigned i = 1; i <= kPriorities; ++i) {
    const auto c = static_cast<std::uint8_t>((nic.gave_last + i) % kPriorities);
    if ((classes & bit(Priority{c})) == 0) continue;
    take(now, nic, Priority{c});
    if (nic.gives_next != Instant::never()) return;  // that was it
  }
}

void Host::gave(Instant now, Nic& nic, Priority priority, std::uint32_t octets) {
  nic.gives_next = now + time_to_give(nic, octets);
  nic.gave_last = priority.value;
  if (nic.shared_bus == kOwnBus) return;
  Bus& bus = buses_[nic.shared_bus];
  bus.sends.carry(now, bus.sends.place_of(port_of(nic)), octets);
  bus.offers = bus.sends.next();
  set_timer(bus_slot(buses_.size() + nic.shared_bus), bus.offers);
}

// A NIC whose port is still busy takes its next frame if the shared bus is free, so that its link is not idle while the bus
// carries somebody else's.
void Host::take_ahead(Instant now, Nic& nic) {
  if (nic.shared_bus != kOwnBus && nic.egress.busy()) take(now, nic);
}

void Host::on_bus(Instant now, std::size_t slot) {
  if (slot < buses_.size()) {
    buses_[slot].wake = Instant::never();
    return carry_received(now, slot);
  }
  Bus& bus = buses_[slot - buses_.size()];
  bus.offers = Instant::never();
  for (const PortIndex nic : bus.sends.nics()) starts_.add(now, nic);
}

// Whether a NIC that has something to give may give it now. Starts those that wait for the same bus and come first. Called
// when all else of the instant is done, so that all that want the bus are known.
bool Host::has_turn(Instant now, Nic& nic) {
  if (nic.shared_bus == kOwnBus) return true;
  const SharedBus& bus = buses_[nic.shared_bus].sends;
  const auto waits = [&](PortIndex port) {
    const Nic& other = nics_[port.index()];
    return &other == &nic || (other.endpoint != nullptr && other.gives_next <= now);
  };
  while (bus.free(now)) {
    const PortIndex first = bus.nics()[bus.first(waits)];
    if (&nics_[first.index()] == &nic) return true;
    start(now, first);  // gives a frame, or waits no longer
  }
  nic.gives_next = bus.next();
  return false;
}

// What was received goes to the host: the bus takes one frame, if it is free and any waits.
void Host::carry_received(Instant now, std::size_t bus) {
  SharedBus& receives = buses_[bus].receives;
  if (!receives.free(now)) return;
  const std::size_t place = receives.first([&](PortIndex p) {
    return nics_[p.index()].attachment == nullptr && nics_[p.index()].receive.wants_bus();
  });
  if (place == SharedBus::kNobody) return;
  const PortIndex port = receives.nics()[place];
  ReceiveBuffer& buffer = nics_[port.index()].receive;
  receives.carry(now, place, buffer.front_octets());
  buffer.begin(now, receives.next() - now);
  set_timer(receive_slot(port), buffer.next());
  // A host that takes it more slowly than the bus leaves the bus to others before it is done.
  if (buffer.next() > receives.next()) wake_bus(bus, receives.next());
}

void Host::wake_bus(std::size_t bus, Instant at) {
  buses_[bus].wake = at;
  set_timer(bus_slot(bus), at);
}

}  // namespace railyard
