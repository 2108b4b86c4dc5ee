// What a switch answers itself: ARP and neighbour discovery (for every address it has a route to: proxy ARP, RFC 1027,
// and proxy neighbour discovery, RFC 4861 §7.2.8), ping to its own addresses, ICMP errors, address resolution.
#include <algorithm>
#include <array>
#include <cstring>

#include "dataplane/base/endpoint.h"
#include "dataplane/packet/edge.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/echo.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/nd.h"

namespace railyard {

using namespace literals;

namespace {

constexpr Duration kAskAgainAfter = 1_ms;
constexpr std::size_t kMostAwaiting = 16;
// ICMP errors are limited (RFC 1812 §4.3.2.8, RFC 4443 §2.4(f)): this many at once, then one per interval.
constexpr Duration kIcmpErrorInterval = 1_ms;
constexpr std::int64_t kIcmpErrorBurst = 64;

// The octets of a packet that are there and contiguous.
std::span<const std::byte> real_octets(const Packet& p) noexcept {
  return {p.header(), p.header_octets + (p.has(Packet::kElided) ? 0 : p.payload_octets)};
}

// The frame without its FCS, as the IP length counts: with an ICRC that nobody has computed yet, and with padding.
std::size_t content_octets(const Packet& p) noexcept { return p.frame_octets - wire::kFcsOctets; }

}  // namespace

void Switch::on_exception(Instant now, Arrival& a) {
  if (a.verdict == kUnresolved) resolve(a);
  switch (a.verdict) {
    case kForward:
      return admit(now, a);
    case kLocal:
      return deliver_locally(now, a);
    case kTtlExpired:
      send_icmp_error(now, a);
      return drop(now, a, DropReason::kTtlExpired);
    case kTooBig:
      // DEVIATION RFC 791 §2.3: packets without DF are not fragmented but treated as if they had it. Data centre
      // switches do not fragment either.
      send_icmp_error(now, a);
      return drop(now, a, DropReason::kTooBig);
    case kUnresolved:
      return await_neighbour(now, a);
    default:
      return drop(now, a, static_cast<DropReason>(a.verdict - kDrop));
  }
}

void Switch::deliver_locally(Instant now, const Arrival& a) {
  Packet& p = *a.packet;
  const PortIndex in{static_cast<std::uint16_t>(EventKey::port(a.key))};
  if (IntStack* stack = int_stack(p); stack != nullptr) [[unlikely]]
    stack->end();
  const bool controlled = !control_.empty();
  // Towards hosts the switch goes on answering for all addresses that it has a route to.
  if (controlled && !config_.ports[in.index()].faces_hosts) return punt(now, a);
  const auto view = wire::parse_frame(real_octets(p), content_octets(p));
  if (!view) return controlled ? punt(now, a) : drop(now, a, view.error());
  const wire::MacAddress own = config_.ports[in.index()].mac;

  if (p.kind == FrameKind::kArp) {
    const wire::ArpMessage arp = wire::read_arp(p.l3());
    learn_peer(now, in, arp.sender_mac);  // a host may have got another NIC
    const bool asks = arp.operation == wire::arp_operation::kRequest && arp.sender_ip != arp.target_ip &&
                      !arp.sender_ip.is_unspecified() && speaks_for(arp.target_ip, in);
    if (asks) {
      if (Packet* reply = pool().allocate_elided()) {
        const std::size_t n = wire::write_arp_reply(room_of(*reply), p.header_span(), *view, own);
        originate(now, reply, n, in);
      }
    }
    return controlled && !asks ? punt(now, a) : consume(a.packet);
  }
  if (controlled && p.kind != FrameKind::kIpv6) return punt(now, a);
  if (p.kind == FrameKind::kIpv6) {
    if (const auto message = wire::parse_neighbour(real_octets(p), *view)) {
      const bool asks = !message->advertisement && !view->source.is_unspecified() && speaks_for(message->target, in);
      if (asks) {
        if (Packet* reply = pool().allocate_elided()) {
          const std::size_t n = wire::write_neighbour_advertisement(room_of(*reply), real_octets(p), *view, own);
          originate(now, reply, n, in);
        }
      }
      return controlled && !asks ? punt(now, a) : consume(a.packet);
    }
  }
  if (controlled) return punt(now, a);
  const bool ours = is_ip(p.kind) && forwarding_.lookup(p.fec).kind == NextHops::Kind::kLocal;
  if (ours && wire::is_echo_request(real_octets(p), *view)) {
    const auto vlan = vlan_of(p, in);
    if (!vlan) return drop(now, a, DropReason::kVlanNotMember);
    // The request becomes the reply: it ends here and begins anew.
    consumed_.increment();
    wire::make_echo_reply({p.header(), p.header_octets}, *view);
    if (const auto reply = wire::parse_frame(real_octets(p), content_octets(p))) describe(p, *reply, *config_.fecs);
    return originate_routed(now, a.packet, *vlan);
  }
  // Router solicitations, multicast listener reports and the like are said to every router on the link; this one has
  // nothing to answer and forwards no multicast.
  if (is_ip(p.kind) && view->destination.is_link_local_multicast()) return consume(a.packet);
  drop(now, a, DropReason::kNotUnderstood);
}

// Whether we answer for `address` on port `in`: we know a way to it that does not lead back there.
bool Switch::speaks_for(const wire::IpAddress& address, PortIndex in) const noexcept {
  const SwitchPortConfig& port = config_.ports[in.index()];
  if (address == port.gateway_v4 || address == port.gateway_v6) return true;
  const NextHops& hops = forwarding_.lookup(config_.fecs->lookup(address));
  if (hops.kind == NextHops::Kind::kLocal) return true;
  return hops.kind == NextHops::Kind::kGroup && !(hops.count == 1 && forwarding_.member(hops, 0) == in);
}

void Switch::send_icmp_error(Instant now, const Arrival& a) {
  const Packet& p = *a.packet;
  const bool v4 = p.kind == FrameKind::kIpv4;
  const auto& source = v4 ? config_.loopback_v4 : config_.loopback_v6;
  const auto vlan = vlan_of(p, PortIndex{static_cast<std::uint16_t>(EventKey::port(a.key))});
  if (!source || !vlan) return;
  // Generic cell rate algorithm (ITU-T I.371): virtual scheduling.
  const Instant earliest = icmp_error_due_ - kIcmpErrorInterval * (kIcmpErrorBurst - 1);
  if (now < earliest) return;
  const auto view = wire::parse_frame(real_octets(p), content_octets(p));
  if (!view) return;
  Packet* e = p.has(Packet::kElided) ? pool().allocate_elided() : pool().allocate_real();
  if (e == nullptr) return;
  // The link header is written again when the packet is routed.
  const wire::LinkHeader link{};
  const std::uint32_t mtu = a.verdict == kTooBig ? facts_[a.port].mtu : 0;
  const std::size_t n =
      v4 ? wire::write_icmp_error(room_of(*e), link, *source,
                                  a.verdict == kTooBig
                                      ? wire::IcmpError::fragmentation_needed(static_cast<std::uint16_t>(mtu))
                                      : wire::IcmpError::time_exceeded(),
                                  real_octets(p), *view)
         : wire::write_icmpv6_error(
               room_of(*e), link, *source,
               a.verdict == kTooBig ? wire::Icmpv6Error::packet_too_big(mtu) : wire::Icmpv6Error::time_exceeded(),
               real_octets(p), *view);
  if (!describe_own(*e, n)) return;
  icmp_error_due_ = std::max(icmp_error_due_, now) + kIcmpErrorInterval;
  originate_routed(now, e, *vlan);
}

// RFC 1122 §2.3.2.2: the latest packets for a neighbour that is being asked for its address are kept.
void Switch::await_neighbour(Instant now, const Arrival& a) {
  ask_for_neighbour(now, a);
  if (awaiting_.size() == kMostAwaiting) {
    drop(now, awaiting_.front(), DropReason::kNeighbourUnresolved);
    awaiting_.erase(awaiting_.begin());
  }
  awaiting_.push_back(a);
}

// Decides what could not be decided before, if it can be now.
void Switch::resolve(Arrival& a) {
  if (!facts_[a.port].peer_known) return;
  const PortIndex in{static_cast<std::uint16_t>(EventKey::port(a.key))};
  a.verdict = decide_egress(*a.packet, in, Priority{a.priority}, a);
  a.cells = mmu_.cells(a.octets);
}

// Frames whose neighbour is known by now go on their way, as if they had just come.
void Switch::release_awaiting(Instant now) {
  std::vector<Arrival> waiting;
  std::swap(waiting, awaiting_);
  for (Arrival& a : waiting) {
    if (facts_[a.port].peer_known)
      on_exception(now, a);
    else
      awaiting_.push_back(a);
  }
}

void Switch::ask_for_neighbour(Instant now, const Arrival& a) {
  const PortIndex out{a.port};
  Instant& asked = asked_[out.index()];
  if (asked >= Instant{} && now < asked + kAskAgainAfter) return;
  const auto view = wire::parse_frame(real_octets(*a.packet), content_octets(*a.packet));
  if (!view) return;
  const SwitchPortConfig& port = config_.ports[out.index()];
  const bool v4 = a.packet->kind == FrameKind::kIpv4;
  const auto& source = v4 ? (port.gateway_v4 ? port.gateway_v4 : config_.loopback_v4)
                          : (port.gateway_v6 ? port.gateway_v6 : config_.loopback_v6);
  if (!source) return;
  Packet* q = pool().allocate_elided();
  if (q == nullptr) return;
  asked = now;
  const wire::LinkHeader link{.destination = wire::kBroadcastMac, .source = port.mac};
  const std::size_t n = v4 ? wire::write_arp_request(room_of(*q), link, *source, view->destination)
                           : wire::write_neighbour_solicitation(room_of(*q), link, *source, view->destination);
  originate(now, q, n, out);
}

// An attached host speaks for the first time. Frames are decided about ahead of their turn: the address is kept, and
// counts from the turn of the frame on (meet).
void Switch::hear(PortIndex port, wire::MacAddress mac) noexcept {
  PortFacts& f = facts_[port.index()];
  const bool heard = std::any_of(f.rewrite.begin(), f.rewrite.begin() + 6, [](std::uint8_t o) { return o != 0; });
  if (!heard && !mac.is_multicast()) std::copy(mac.octets.begin(), mac.octets.end(), f.rewrite.begin());
}

void Switch::meet(Instant now, const Arrival& a) {
  const PortIndex in{static_cast<std::uint16_t>(EventKey::port(a.key))};
  const PortFacts& f = facts_[in.index()];
  if (f.peer_known) return;
  wire::MacAddress mac;
  std::copy_n(f.rewrite.begin(), mac.octets.size(), mac.octets.begin());
  if (mac != wire::MacAddress{}) learn_peer(now, in, mac);
}

void Switch::learn_peer(Instant now, PortIndex port, wire::MacAddress mac) {
  if (config_.ports[port.index()].peer_mac || mac.is_multicast()) return;
  PortFacts& f = facts_[port.index()];
  std::copy(mac.octets.begin(), mac.octets.end(), f.rewrite.begin());
  if (!f.peer_known) {
    f.peer_known = true;
    --strangers_;
    return release_awaiting(now);
  }
  // What is still to have its turn was addressed to the old one. What has had it is on its way.
  const std::uint64_t turn = EventKey::floor(key_base(), now + 1_ps);
  for (const Arrival& a : arrivals())
    if (a.key >= turn && a.verdict == kForward && a.port == port.value)
      std::memcpy(a.packet->header(), f.rewrite.data(), f.rewrite.size());
}

std::span<std::byte> Switch::room_of(Packet& packet) const noexcept {
  return {packet.header(), packet.has(Packet::kRealPool) ? std::size_t{1500} : kMaxHeaderOctets};
}

// Fills the metadata of a frame of `octets` octets that the switch wrote; gives it back if there is none.
bool Switch::describe_own(Packet& packet, std::size_t octets) {
  const auto view = wire::parse_frame({packet.header(), octets});
  if (octets == 0 || !view) {
    pool().release(&packet);
    return false;
  }
  packet.stream = mix64(id().value + (std::uint64_t{1} << 32));
  packet.offset = generated_.read();
  packet.sent = {};
  packet.payload_octets = 0;
  packet.frame_octets =
      std::max<std::uint32_t>(static_cast<std::uint32_t>(octets) + wire::kFcsOctets, kLeastFrameOctets);
  describe(packet, *view, *config_.fecs);
  packet.header_octets = static_cast<std::uint16_t>(octets);  // all of it is real
  return true;
}

// Sends a frame of `octets` octets that is addressed already.
void Switch::originate(Instant now, Packet* packet, std::size_t octets, PortIndex out) {
  if (describe_own(*packet, octets)) originate_at(now, packet, out);
}

// What we say ourselves is said in the VLAN of what it answers.
void Switch::originate_routed(Instant now, Packet* packet, std::uint16_t vlan) {
  Packet& p = *packet;
  const NextHops& hops = forwarding_.lookup(p.fec);
  if (hops.kind != NextHops::Kind::kGroup) return drop_own(now, packet, DropReason::kNoRoute);
  const PortIndex self{static_cast<std::uint16_t>(ports())};
  const PortIndex out = forwarding_.member(hops, paths_.choose_for_own(hops, p, self));
  const PortFacts& g = facts_[out.index()];
  if (!g.peer_known) return drop_own(now, packet, DropReason::kNeighbourUnresolved);
  if (!leave_in_vlan(p, vlan, out)) return drop_own(now, packet, DropReason::kVlanNotMember);
  std::memcpy(p.header(), g.rewrite.data(), g.rewrite.size());
  originate_at(now, packet, out);
}

void Switch::originate_at(Instant now, Packet* packet, PortIndex out) {
  originate_in(now, packet, out, classify(*facts_[out.index()].trust, *packet));
}

void Switch::originate_in(Instant now, Packet* packet, PortIndex out, Priority priority) {
  generated_.increment();
  Arrival a{};
  a.packet = packet;
  a.octets = packet->frame_octets;
  a.cells = mmu_.cells(a.octets);
  a.port = out.value;
  a.priority = priority.value;
  a.origin = static_cast<std::uint16_t>(index(PortIndex{static_cast<std::uint16_t>(ports())}, priority));
  if (!facts_[out.index()].up) return drop(now, a, DropReason::kLinkDown);
  admit(now, a);
}

void Switch::drop_own(Instant now, Packet* packet, DropReason reason) {
  generated_.increment();
  Arrival a{};
  a.packet = packet;
  a.origin = static_cast<std::uint16_t>(index(PortIndex{static_cast<std::uint16_t>(ports())}, Priority{0}));
  drop(now, a, reason);
}

}  // namespace railyard
