// Credit-based flow control (CBFC): what ingress groups hold becomes credits of the senders.
#include "dataplane/base/assert.h"
#include "dataplane/device/credit_frame.h"
#include "dataplane/switch/switch.h"

namespace railyard {

void Switch::use_credits(PortIndex port, const CreditConfig& sends, const CreditConfig& receives) {
  RAILYARD_ASSERT(Bytes{receives.cell} == mmu_.cell(), "credits are cells of the buffer");
  egress_[port.index()].use_credits(sends, receives);
  any_credits_ = true;
}

// What a frame has used. A frame that is found to be wrong is none of any class.
CreditStamp Switch::credit_arrival(Instant now, PortIndex port, const Packet& packet) {
  EgressPort& e = egress_[port.index()];
  if (!e.has_credits()) return {};
  e.credit_arrival(now, packet.credits, packet.has(Packet::kFcsBad) && !cuts_through());
  return packet.credits;
}

// A group holds more or less than before, or a frame has come that it need not hold.
void Switch::credits_changed(Instant now, std::size_t group) {
  const PortIndex port{static_cast<std::uint16_t>(group / kPriorities)};
  if (port.index() >= ports()) return;
  EgressPort& e = egress_[port.index()];
  if (!e.has_credits()) return;
  const Priority priority{static_cast<std::uint8_t>(group % kPriorities)};
  if (e.credit_hold(priority, groups_[group].held) && !e.busy()) starts_.add(now, port);
}

void Switch::on_credit_message(Instant now, PortIndex port, Packet* packet) {
  const auto message = read_credit_frame(*packet);
  if (tapped() && (!message || message->type == wire::CreditMessageType::kConsumed))
    observe(now, port, *packet, {.event = TapNote::Event::kReceived});
  EgressPort& e = egress_[port.index()];
  if (!message || !e.has_credits()) {
    drops_by_port_[port.index()].count(message ? DropReason::kNotUnderstood : message.error());
    pool().release(packet);
    return;
  }
  consume(packet);
  e.hear_credits(now, *message);
  if (!e.busy()) starts_.add(now, port);
}

// Ordered sets are in no capture.
Packet* Switch::make_credit_message(Instant now, PortIndex port, const wire::CreditMessage& message) {
  Packet* const frame = make_credit_frame(pool(), config_.ports[port.index()].mac, message);
  if (frame == nullptr) return nullptr;
  generated_.increment();
  if (observed() && message.type == wire::CreditMessageType::kConsumed)
    observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
  return frame;
}

}  // namespace railyard
