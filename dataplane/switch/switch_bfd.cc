// BFD with the switches at the other ends (bfd.h): its decisions become frames and events, and the other way round.
#include <fmt/format.h>

#include "dataplane/device/control_frame.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/bfd_control.h"

namespace railyard {

void Switch::set_up_bfd() {
  std::vector<PortIndex> with;
  for (std::size_t p = 0; p < ports(); ++p)
    if (config_.ports[p].bfd) with.push_back(PortIndex{static_cast<std::uint16_t>(p)});
  if (!config_.bfd || with.empty()) return;
  bfd_ = std::make_unique<Bfd>(*config_.bfd, with, RngStream(config_.seed, fmt::format("{}/bfd", name())));
  set_device_timer();
}

void Switch::on_bfd_due(Instant now) {
  bfd_->on_time(
      now,
      [&](PortIndex port) { bfd_changed(now, port, false); }, [&](PortIndex port) { send_bfd(now, port); });
}

// Routing learns of it; a member of a bundle is used no more, or again (RFC 7130).
void Switch::bfd_changed(Instant now, PortIndex port, bool up) {
  note_bfd(now, port, up);
  if (config_.ports[port.index()].bundle == 0) return;
  paths_.set_up(port, up && facts_[port.index()].up);
  // What the neighbour said of it before is about a link that is not used any more.
  if (!up) paths_.remote().forget(port);
}

void Switch::send_bfd(Instant now, PortIndex port) {
  EgressPort& e = egress_[port.index()];
  e.want_report(true);
  if (!e.busy()) starts_.add(now, port);
}

Packet* Switch::make_bfd_control(Instant now, PortIndex port) {
  const wire::BfdControl control = bfd_->take(port);
  Packet* const frame = make_control_frame(pool());
  if (frame == nullptr) return nullptr;
  wire::write_bfd_control(control_octets(*frame), config_.ports[port.index()].mac, control);
  generated_.increment();
  if (observed()) observe_departure(now, port, *frame, {.event = TapNote::Event::kSent});
  return frame;
}

void Switch::on_bfd_control(Instant now, PortIndex port, Packet* packet) {
  const auto control = packet->has(Packet::kFcsBad) ? std::unexpected(DropReason::kFcsError)
                                                    : wire::parse_bfd_control(packet->header_span());
  if (!control) {
    drops_by_port_[port.index()].count(control.error());
    pool().release(packet);
    return;
  }
  consume(packet);
  if (bfd_ == nullptr || !bfd_->has(port)) return;
  const Bfd::Change change = bfd_->hear(now, port, *control);
  if (change != Bfd::Change::kNone) bfd_changed(now, port, change == Bfd::Change::kUp);
  set_device_timer();
}

void Switch::stop_bfd() {
  if (bfd_ == nullptr) return;
  bfd_.reset();
  set_device_timer();
}

void Switch::bfd_link(Instant now, PortIndex port, bool up) {
  if (bfd_ == nullptr || !bfd_->has(port)) return;
  bfd_->link(now, port, up);
  set_device_timer();
}

}  // namespace railyard
