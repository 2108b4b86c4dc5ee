#include "dataplane/fault/link_faults.h"

#include <algorithm>
#include <cstring>

#include "dataplane/base/planted_bug.h"
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
  p->sampled = 0;  // of the two, one is followed
  p->credits = {};  // and one has used credits
  std::memcpy(p->header(), packet.header(), real);
  return p;
}

bool truncate(Packet& p, const frame_action::Truncate& to) noexcept {
  const std::uint32_t left = to.left_of(p);
  if (left >= p.frame_octets) return false;
  p.frame_octets = left;
  p.payload_octets = std::min(p.payload_octets, left - p.header_octets - std::uint32_t{wire::kFcsOctets});
  p.flags = static_cast<std::uint8_t>((p.flags & ~unsigned{Packet::kIcrcPending}) | Packet::kFcsBad);
  return true;
}

bool trim_packet(Packet& p, const frame_action::Trim& to) noexcept {
  const bool is_ip = p.kind == FrameKind::kIpv4 || p.kind == FrameKind::kIpv6;
  return is_ip && p.trimmed == 0 && p.frame_octets > to.keep + wire::kFcsOctets && trim(p, to.keep, to.dscp);
}

bool mark(Packet& p) noexcept {
  if (p.kind != FrameKind::kIpv4 && p.kind != FrameKind::kIpv6) return false;
  const wire::Ecn ecn = wire::ecn_of(p.traffic_class_octet);
  if (ecn == wire::Ecn::kNotEct || ecn == wire::Ecn::kCe) return false;
  set_traffic_class(p, static_cast<std::uint8_t>(p.traffic_class_octet | 3));
  return true;
}

}  // namespace

bool LinkFaults::all_ended(Instant now) const noexcept {
  return std::ranges::all_of(faults_, [now](const auto& f) { return f->ends_at() <= now; });
}

Instant LinkFaults::last_end() const noexcept {
  Instant last{};
  for (const auto& f : faults_) last = std::max(last, f->ends_at());
  return last;
}

LinkFaults::Fate LinkFaults::decide(Lane lane, Packet* packet, Instant effect, Instant arrival, PacketPool& pool) {
  Frames& frames = lanes_[static_cast<std::size_t>(lane)];
  Fate fate{.due = effect};
  bool keeps_order = false;
  Duration alone{};  // for how long others overtake it
  for (const std::shared_ptr<FrameFault>& f : faults_) {
    if (!f->acts(lane, *packet, arrival)) continue;
    RngStream& rng = f->rng(lane);
    struct Act {
      LinkFaults& stage;
      FrameFault& fault;
      Lane lane;
      Packet*& packet;
      PacketPool& pool;
      RngStream& rng;
      Fate& fate;
      bool& keeps_order;
      Duration& alone;

      bool lose(bool lost) const noexcept { return fate.lost = lost; }
      bool operator()(const frame_action::Lose&) const noexcept { return lose(true); }
      bool operator()(const frame_action::LoseInBursts& a) const noexcept {
        return lose(a.chain.loses(fault.bad(lane), rng));
      }
      bool operator()(const frame_action::BitError& a) const noexcept {
        if (!a.errors.hit(packet->frame_octets, rng)) return false;
        packet->flags |= Packet::kFcsBad;
        return true;
      }
      bool operator()(const frame_action::Corrupt&) const noexcept { return corrupt(*packet); }
      bool operator()(const frame_action::Duplicate&) const {
        if (fate.copy != nullptr) return false;  // one copy is enough for two faults
        fate.copy = copy_of(*packet, pool);
        return fate.copy != nullptr;
      }
      bool operator()(const frame_action::Truncate& a) const noexcept { return truncate(*packet, a); }
      bool operator()(const frame_action::Trim& a) const noexcept { return trim_packet(*packet, a); }
      bool operator()(const frame_action::Mark&) const noexcept { return mark(*packet); }
      bool operator()(const frame_action::Delay& a) const noexcept {
        Duration longer = a.time;
        if (a.jitter > Duration{})
          longer += Duration{static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(a.jitter.ps) + 1))};
        if (a.keeps_order)
          fate.due = fate.due + longer, keeps_order = true;
        else
          alone += longer;
        return true;
      }
      bool operator()(const frame_action::Reorder& a) const noexcept {
        fate.behind = std::max(fate.behind, a.behind);
        alone += a.within;
        return true;
      }
    };
    if (std::visit(Act{*this, *f, lane, packet, pool, rng, fate, keeps_order, alone}, f->config().action))
      f->touch(lane);
    if (fate.lost) break;
  }
  if (fate.lost) {
    lost_.increment();
    pool.release(packet);
    if (fate.copy == nullptr) return fate;
    // What was doubled before one of the two was lost arrives once.
    lost_.increment();
    pool.release(fate.copy);
    duplicated_.increment();
    return fate;
  }
  if (fate.copy != nullptr && !planted(PlantedBug::kDuplicateNotCounted)) duplicated_.increment();
  if (fate.copy != nullptr && planted(PlantedBug::kDoubleFree)) pool.release(fate.copy);
  fate.due = std::max(fate.due, frames.in_order);
  if (keeps_order) frames.in_order = fate.due;
  fate.due = fate.due + alone;
  return fate;
}

}  // namespace railyard
