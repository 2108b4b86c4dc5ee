#include "dataplane/fault/frame_action.h"

#include <cstring>

#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/packet/corruption.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/packet/trim.h"
#include "dataplane/wire/ecn.h"

namespace railyard {
namespace {

// Another packet of the same contents; nullptr if there is no memory, or no packet large enough, for one.
Packet* copy_of(const Packet& packet, PacketPool& pool) {
  const std::size_t real =
      packet.header_octets + (packet.has(Packet::kElided) ? std::size_t{0} : packet.payload_octets);
  if (!packet.has(Packet::kElided) && real > pool.real_octets()) return nullptr;
  Packet* p = packet.has(Packet::kElided) ? pool.allocate_elided() : pool.allocate_real();
  if (p == nullptr) return nullptr;
  constexpr unsigned kOfThePool = Packet::kRealPool | Packet::kFromPort;
  const std::uint16_t header_at = p->header_at;
  const unsigned flags = p->flags & kOfThePool;
  const WorkerId home = p->home;
  *p = packet;
  p->header_at = header_at;
  p->flags = static_cast<std::uint8_t>((packet.flags & ~kOfThePool) | flags);
  p->home = home;
  p->copied = 1;
  p->sampled = 0;  // of the two, one is followed
  p->credits = {};  // and one has used credits
  std::memcpy(p->header(), packet.header(), real);
  if (packet.telemetry != 0) [[unlikely]]
    telemetry_of(packet).write(telemetry_at(*p));
  return p;
}

bool is_ip(const Packet& p) noexcept { return p.kind == FrameKind::kIpv4 || p.kind == FrameKind::kIpv6; }

}  // namespace

namespace frame_action {

bool BitError::act(FrameInHand& f) const noexcept {
  if (!errors.hit(f.packet.frame_octets, f.state.rng)) return false;
  f.packet.flags |= Packet::kFcsBad;
  return true;
}

bool Corrupt::act(FrameInHand& f) const noexcept { return corrupt(f.packet); }

bool Duplicate::act(FrameInHand& f) const {
  if (f.fate.copy != nullptr) return false;  // one copy is enough for two faults
  f.fate.copy = copy_of(f.packet, f.pool);
  return f.fate.copy != nullptr;
}

std::uint32_t Truncate::left_of(const Packet& p) const noexcept {
  const std::uint32_t least = std::max<std::uint32_t>(p.header_octets + wire::kFcsOctets, kLeastFrameOctets);
  return std::min(std::max(octets, least), p.frame_octets);
}

bool Truncate::act(FrameInHand& f) const noexcept {
  Packet& p = f.packet;
  const std::uint32_t left = left_of(p);
  if (left >= p.frame_octets) return false;
  if (p.telemetry != 0) drop_telemetry(p);
  p.frame_octets = left;
  p.payload_octets = std::min(p.payload_octets, left - p.header_octets - std::uint32_t{wire::kFcsOctets});
  p.flags = static_cast<std::uint8_t>((p.flags & ~unsigned{Packet::kIcrcPending}) | Packet::kFcsBad);
  return true;
}

bool Trim::act(FrameInHand& f) const noexcept {
  Packet& p = f.packet;
  return is_ip(p) && p.trimmed == 0 && p.frame_octets > keep + wire::kFcsOctets && trim(p, keep, dscp);
}

bool Mark::act(FrameInHand& f) const noexcept {
  if (!is_ip(f.packet)) return false;
  const wire::Ecn ecn = wire::ecn_of(f.packet.traffic_class_octet);
  if (ecn == wire::Ecn::kNotEct || ecn == wire::Ecn::kCe) return false;
  set_traffic_class(f.packet, static_cast<std::uint8_t>(f.packet.traffic_class_octet | 3));
  return true;
}

bool Delay::act(FrameInHand& f) const noexcept {
  RngStream& rng = f.state.rng;
  const Duration more = keeps_order ? f.state.jitter.next(f.fate.due, spread, rng) : drawn_evenly(spread, rng);
  const Duration longer = std::max(Duration{}, least + more);
  if (keeps_order)
    f.fate.due = f.fate.due + longer, f.fate.keeps_order = true;
  else
    f.fate.alone += longer;
  return true;
}

bool Reorder::act(FrameInHand& f) const noexcept {
  f.fate.behind = std::max(f.fate.behind, behind);
  f.fate.alone += within;
  return true;
}

}  // namespace frame_action
}  // namespace railyard
