// What happens to a frame, from the frame and the tables alone: reception, class, forwarding, path, in this order.
#include <cstring>

#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/rewrite.h"
#include "dataplane/wire/vlan.h"

namespace railyard {
namespace {

std::uint8_t ttl_of(const Packet& packet) noexcept {
  return std::to_integer<std::uint8_t>(packet.l3()[packet.kind == FrameKind::kIpv4 ? 8 : 7]);
}

void decrement_ttl(Packet& packet) noexcept {
  packet.kind == FrameKind::kIpv4 ? wire::decrement_ttl_v4(packet.l3()) : wire::decrement_ttl_v6(packet.l3());
}

}  // namespace

// As far as the port by which it is to leave.
void Switch::decide_port(Arrival& a) {
  Packet& p = *a.packet;
  const PortIndex in{static_cast<std::uint16_t>(EventKey::port(a.key))};
  const PortFacts& f = facts_[in.index()];
  const Priority priority = classify(*f.trust, p);
  a.octets = p.frame_octets;
  a.origin = static_cast<std::uint16_t>(index(in, priority));
  if (!f.peer_known) [[unlikely]]
    hear(in, wire::read<wire::Ethernet::Source>(p.header()));
  a.verdict = decide_mac(p, f);
  if (a.verdict == kForward) [[likely]]
    a.verdict = decide_ip(p, in, priority, a);
}

void Switch::decide_rest(Arrival& a) {
  // What came in is what takes memory, and what its sender had credits for: tags are put on where it leaves.
  a.cells = mmu_.cells(a.octets);
  if (a.verdict == kForward) [[likely]]
    a.verdict = decide_egress(*a.packet, PortIndex{static_cast<std::uint16_t>(a.origin / kPriorities)},
                              Priority{a.priority}, a);
  // Its turn comes after those of the whole batch: by then these are here.
  __builtin_prefetch(&groups_[a.origin], 1);
  if (a.verdict == kForward) {
    __builtin_prefetch(&queues_[index(PortIndex{a.port}, Priority{a.priority})], 1);
    egress_[a.port].prefetch_queue(Priority{a.priority});
  }
}

std::uint8_t Switch::decide_ip(Packet& p, PortIndex in, Priority priority, Arrival& a) {
  const NextHops& hops = forwarding_.lookup(p.fec);
  if (hops.kind != NextHops::Kind::kGroup) [[unlikely]]
    return hops.kind == NextHops::Kind::kLocal || is_for_speaker(p) ? std::uint8_t{kLocal}
                                                                    : verdict(DropReason::kNoRoute);
  if (ttl_of(p) <= 1) [[unlikely]]
    return kTtlExpired;
  a.priority = priority.value;  // drops at egress are counted there
  if (paths_.depends_on_now(priority) && PathSelector::has_choice(hops)) [[unlikely]]
    return kAtItsTurn;
  a.port = forwarding_.member(hops, paths_.choose(hops, p, in, priority)).value;
  __builtin_prefetch(&facts_[a.port]);
  return kForward;
}

// The same for what is decided when all that came before has been done, and decide_rest().
void Switch::decide_path_now(Instant now, Arrival& a) {
  Packet& p = *a.packet;
  const PortIndex in{static_cast<std::uint16_t>(a.origin / kPriorities)};
  const Priority priority{a.priority};
  const NextHops& hops = forwarding_.lookup(p.fec);
  a.port = forwarding_.member(hops, paths_.choose_now(now, hops, p, in, priority)).value;
  a.verdict = decide_egress(p, in, priority, a);
}

// The same, when it is clear by which port it is to leave.
std::uint8_t Switch::decide_egress(Packet& p, PortIndex in, Priority priority, Arrival& a) {
  const PortIndex out{a.port};
  const PortFacts& f = facts_[in.index()];
  const PortFacts& g = facts_[out.index()];
  if (!g.up) [[unlikely]]
    return verdict(DropReason::kLinkDown);
  if (p.frame_octets - wire::kFcsOctets - p.l3_offset > g.mtu &&
      p.frame_octets - telemetry_wire_octets(p) - wire::kFcsOctets - p.l3_offset > g.mtu) [[unlikely]]
    return kTooBig;
  if (!g.peer_known) [[unlikely]]
    return kUnresolved;
  if (p.has(Packet::kTagged) || f.native_vid != g.native_vid) [[unlikely]] {
    if (!apply_vlan(p, in, out)) return verdict(DropReason::kVlanNotMember);
    // Counted as it came in, with or without its tag; from here on as it will leave.
    groups_[a.origin].rx_octets.add(std::uint64_t{a.octets} - p.frame_octets);
    a.octets = p.frame_octets;
  }
  if (f.misclassifies | g.remaps) [[unlikely]]
    a.priority = review_class(p, in, out, priority).value;
  std::memcpy(p.header(), g.rewrite.data(), g.rewrite.size());
  decrement_ttl(p);
  return kForward;
}

}  // namespace railyard
