// Credit-based flow control (CBFC) of NICs: what the receive buffers hold becomes credits of the fabric.
#include "dataplane/device/credit_frame.h"
#include "dataplane/nic/host.h"

namespace railyard {

// The receive buffer holds more or less of a class than before, or a frame has come that it need not hold.
void Host::credits_changed(Instant now, PortIndex port, Priority priority) {
  Nic& nic = nics_[port.index()];
  if (nic.egress.credit_hold(priority, nic.receive.cells(priority)) && !nic.egress.busy()) starts_.add(now, port);
}

void Host::on_credit_message(Instant now, PortIndex port, Packet* packet) {
  Nic& nic = nics_[port.index()];
  const auto message = read_credit_frame(*packet);
  if (tapped() && (!message || message->type == wire::CreditMessageType::kConsumed))
    observe(now, port, *packet, {.event = TapNote::Event::kReceived});
  if (!message || !nic.egress.has_credits()) {
    nic.drops.count(message ? DropReason::kNotUnderstood : message.error());
    pool().release(packet);
    return;
  }
  consumed_.increment();
  pool().release(packet);
  nic.egress.hear_credits(now, *message);
  if (!nic.egress.busy()) starts_.add(now, port);
}

// Ordered sets are in no capture.
Packet* Host::make_credit_message(Instant now, PortIndex port, const wire::CreditMessage& message) {
  Packet* const frame = make_credit_frame(pool(), config_.nics[port.index()].mac, message);
  if (frame == nullptr) return nullptr;
  generated_.increment();
  if (observed() && message.type == wire::CreditMessageType::kConsumed)
    observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
  return frame;
}

}  // namespace railyard
