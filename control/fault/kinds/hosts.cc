// Kinds of faults of hosts and their NICs.
#include "control/fault/state_changes.h"

namespace railyard::spec::fault {
namespace {

// 0: nothing.
void receive_at(Changes& c, const FaultPlace& at, BitRate rate) {
  for (const PortRef port : c.ports(at)) {
    Host& d = c.host(port.device);
    c.add(
        port.device, [&d, port, id = c.id(), rate](Instant now) { d.begin_receiving_at(now, id, port.port, rate); },
        [&d, port, id = c.id()](Instant now) { d.end_receiving_at(now, id, port.port); });
    c.counts(port, DropReason::kNicReceiveFull);
  }
}

}  // namespace

void StopReceiving::change(Changes& c, const FaultPlace& at) const { receive_at(c, at, BitRate{}); }
void SlowReceiver::change(Changes& c, const FaultPlace& at) const { receive_at(c, at, rate); }

void Straggle::change(Changes& c, const FaultPlace& at) const {
  const Device::Share left{share.numerator, share.denominator};
  for (const PortRef port : c.ports(at)) {
    Host& d = c.host(port.device);
    c.add(
        port.device, [&d, port, id = c.id(), left](Instant now) { d.begin_straggling(now, id, port.port, left); },
        [&d, port, id = c.id()](Instant now) { d.end_straggling(now, id, port.port); });
  }
}

void Skew::change(Changes& c, const FaultPlace& at) const {
  const Host::ClockDrift drift = slow.numerator != 0 ? Host::ClockDrift{-slow.numerator, slow.denominator}
                                                     : Host::ClockDrift{fast.numerator, fast.denominator};
  for (const DeviceId device : c.devices(at)) {
    Host& d = c.host(device);
    c.add(
        device,
        [&d, id = c.id(), wrong = ahead - behind, drift](Instant now) { d.begin_skew(now, id, wrong, drift); },
        [&d, id = c.id()](Instant) { d.end_skew(id); });
  }
}

}  // namespace railyard::spec::fault
