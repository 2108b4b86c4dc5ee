// Kinds of faults of the state of links.
#include <algorithm>

#include <fmt/format.h>

#include "control/fault/state_changes.h"
#include "control/spec/spec_error.h"
#include "control/spec/value.h"

namespace railyard::spec::fault {

void Down::change(Changes& c, const FaultPlace& at) const {
  for (const PortRef end : c.link_ends(at)) c.take_down(end);
}

void Flap::change(Changes& c, const FaultPlace& at) const { Down{}.change(c, at); }

void Rate::change(Changes& c, const FaultPlace& at) const {
  constexpr BitRate kLeastRate{1'000'000};
  const Device::Share left_share{share.numerator, share.denominator};
  for (const PortRef sender : c.senders(at)) {
    const BitRate full = c.lab().rate(sender);
    const BitRate left{static_cast<std::int64_t>(static_cast<Int128>(full.bps) * share.numerator / share.denominator)};
    const std::string link = format(PortName{c.lab().node_of(sender.device).name, sender.port.value + 1});
    if (left < kLeastRate)
      throw SpecError({}, fmt::format("fault {}: {} of the link of {} is {}; expected at least {}", c.fault().name,
                                      format(share), link, format(left), format(kLeastRate)));
    Device& d = c.lab().fabric()[sender.device];
    if (const Duration ahead = c.lab().delay(sender) + std::min(d.data_latency(), d.pause_response(left));
        ahead < c.window())
      throw SpecError({}, fmt::format("fault {}: at {} the link of {} needs a window of {}, but the lab runs with "
                                      "windows of {}; expected another rate, or a longer cable",
                                      c.fault().name, format(left), link, format(ahead), format(c.window())));
    for (const auto& [end, way] : {std::pair{sender, Device::Way::kSends},
                                   {c.lab().fabric().peer(sender), Device::Way::kReceives}}) {
      Device& device = c.lab().fabric()[end.device];
      c.add(
          end.device,
          [&device, end, way, id = c.id(), left_share](Instant now) {
            device.begin_degraded(now, end.port, way, id, left_share);
          },
          [&device, end, way, id = c.id()](Instant now) { device.end_degraded(now, end.port, way, id); });
    }
  }
}

}  // namespace railyard::spec::fault
