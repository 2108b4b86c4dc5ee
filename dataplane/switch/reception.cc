// The MAC of a port: what it takes, and what MAC control frames (PFC, IEEE 802.1Qbb; quality reports) make it do.
#include "dataplane/device/credit_frame.h"
#include "dataplane/device/pfc_frame.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/bfd_control.h"
#include "dataplane/wire/mac_address.h"
#include "dataplane/wire/quality_report.h"

namespace railyard {

// MAC reception: length, FCS, address.
std::uint8_t Switch::decide_mac(const Packet& p, const PortFacts& f) const noexcept {
  if (p.frame_octets > f.largest_frame) [[unlikely]]
    return verdict(DropReason::kGiant);
  // A switch that cuts through has sent half of the frame before it could know.
  if (p.has(Packet::kFcsBad) && !cuts_through()) [[unlikely]]
    return verdict(DropReason::kFcsError);
  const std::uint64_t destination = wire::mac_word(p.header());
  if (destination != f.mac) [[unlikely]] {
    const bool group_address = (std::to_integer<unsigned>(p.header()[0]) & 1) != 0;
    return group_address ? std::uint8_t{kLocal} : verdict(DropReason::kNotForUs);
  }
  return is_ip(p.kind) ? kForward : kLocal;
}

void Switch::on_mac_control(Instant now, PortIndex port, Packet* packet) {
  EgressPort& e = egress_[port.index()];
  rx_control_[port.index()].increment();
  if (is_credit_frame(*packet)) [[unlikely]]
    return on_credit_message(now, port, packet);
  if (tapped()) observe(now, port, *packet, {.event = TapNote::Event::kReceived});
  if (wire::is_bfd_control(packet->header_span())) return on_bfd_control(now, port, packet);
  if (wire::is_quality_report(packet->header_span())) return on_quality_report(now, port, packet);
  const auto frame = read_pfc_frame(*packet);
  if (!frame) [[unlikely]] {
    drops_by_port_[port.index()].count(frame.error());
    pool().release(packet);
    return;
  }
  consume(packet);
  const PriorityMask before = watches_ ? e.paused(now) : PriorityMask{0};
  e.pause(now, frame->enable, frame->quanta);
  if (!watchdogs_.empty()) [[unlikely]]
    arm_watchdog(now, port, frame->enable);
  if (watches_) [[unlikely]]
    look_at_pauses(now, port, before, frame->enable);
  // An idle port may have been let go, or its timer may have to move.
  if (!e.busy() && e.has_pending_start()) starts_.add(now, port);
}

void Switch::consume(Packet* packet) {
  consumed_.increment();
  pool().release(packet);
}

}  // namespace railyard
