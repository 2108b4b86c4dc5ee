// A control plane outside: a speaker (FRR, bird, ...) in front of the switch, with an interface for each port. It gets
// what is for the switch itself (LLDP, ARP, neighbour discovery, BGP, BFD, ping), and what it sends leaves by the port
// as if the switch had said it. Under the wall clock only.
//
// What the switch forwards never goes this way: packets for addresses that are neither local nor in the table are
// dropped for want of a route, as hardware without a matching entry does.
#include <algorithm>

#include "dataplane/packet/edge.h"
#include "dataplane/switch/switch.h"
#include "dataplane/wire/parse.h"

namespace railyard {
namespace {

// Of one port, for a speaker that does not come to read them.
constexpr std::size_t kMostPunted = 256;
// Network control: CS6 (RFC 4594 section 3.1), of what carries no code point that says so.
constexpr std::size_t kNetworkControl = 48;

}  // namespace

std::unique_ptr<Attachment> Switch::attach_control(PortIndex port, std::unique_ptr<Attachment> speaker) {
  if (control_.empty()) {
    if (speaker == nullptr) return nullptr;
    control_.resize(ports());
  }
  ControlPort& c = control_[port.index()];
  for (Packet* const p : c.to_speaker) pool().release(p);
  for (Packet* const p : c.from_speaker) pool().release(p);
  c.to_speaker.clear();
  c.from_speaker.clear();
  if (c.speaker != nullptr) c.speaker->release_packets(pool());
  c.speaker.swap(speaker);
  if (c.speaker != nullptr && !facts_[port.index()].up) c.speaker->set_carrier(false);
  if (std::ranges::none_of(control_, [](const ControlPort& other) { return other.speaker != nullptr; }))
    control_.clear();
  return speaker;
}

void Switch::set_local_addresses(std::vector<wire::IpAddress> addresses) {
  std::ranges::sort(addresses);
  local_ = std::move(addresses);
}

// Of a packet for which there is no route: whether it is for the speaker all the same.
bool Switch::is_for_speaker(const Packet& p) const noexcept {
  if (control_.empty()) return false;
  const auto view = wire::parse_frame(p.header_span(), p.frame_octets - wire::kFcsOctets);
  if (!view) return false;
  const wire::IpAddress& to = view->destination;
  return to.is_link_local() || std::ranges::binary_search(local_, to);
}

void Switch::punt(Instant now, const Arrival& a) {
  ControlPort& c = control_[EventKey::port(a.key)];
  if (a.packet->has(Packet::kFcsBad)) return drop(now, a, DropReason::kFcsError);  // cut-through lets them in
  if (c.speaker == nullptr || c.to_speaker.size() >= kMostPunted) return drop(now, a, DropReason::kControlPlaneFull);
  consumed_.increment();
  c.to_speaker.push_back(a.packet);
}

void Switch::give_speaker(ControlPort& c) {
  while (!c.to_speaker.empty()) {
    Packet* const first = c.to_speaker.front();
    if (c.speaker->give(pool(), {&first, 1}) == 0) return;
    c.to_speaker.pop_front();
  }
}

Instant Switch::poll(Instant now, Duration) {
  const Instant at = std::max(now, done());
  for (std::size_t p = 0; p < control_.size(); ++p) {
    ControlPort& c = control_[p];
    if (c.speaker == nullptr) continue;
    give_speaker(c);
    if (!c.from_speaker.empty()) continue;  // a change is to come for them
    auto& packets = context().packets;
    const std::size_t n = c.speaker->take(pool(), packets);
    if (n == 0) continue;
    c.from_speaker.assign(packets.begin(), packets.begin() + static_cast<std::ptrdiff_t>(n));
    change_at(at,
              [this, port = PortIndex{static_cast<std::uint16_t>(p)}](Instant then) { take_from_speaker(then, port); });
  }
  return next();
}

bool Switch::readable(std::vector<int>& descriptors) const {
  bool all = true;
  for (const ControlPort& c : control_) {
    if (c.speaker == nullptr) continue;
    const int fd = c.speaker->readable();
    if (fd >= 0) descriptors.push_back(fd);
    all &= fd >= 0;
  }
  return all;
}

void Switch::give_outside(Instant) {
  for (ControlPort& c : control_)
    if (c.speaker != nullptr) give_speaker(c);
}

// As a change. What is malformed, or longer than the port sends, is dropped as what it is.
void Switch::take_from_speaker(Instant now, PortIndex port) {
  if (control_.empty()) return;
  ControlPort& c = control_[port.index()];
  const PortFacts& f = facts_[port.index()];
  for (; !c.from_speaker.empty(); c.from_speaker.pop_front()) {
    Packet& p = *c.from_speaker.front();
    const std::size_t whole = p.header_octets + std::size_t{p.payload_octets};
    const auto view = wire::parse_frame(p.header_span(), whole);
    if (view) {
      describe(p, *view, *config_.fecs);
      p.payload_octets = static_cast<std::uint32_t>(whole - p.header_octets);
    } else {
      p.kind = FrameKind::kArp;  // whatever it is, it is no IP packet
    }
    // LLDP and the like are not the parser's affair.
    const bool understood = view || view.error() == DropReason::kUnknownEtherType;
    if (!understood || p.frame_octets > f.largest_frame) {
      drop_own(now, &p, understood ? DropReason::kGiant : view.error());
      continue;
    }
    const bool says_class =
        is_ip(p.kind) && (p.traffic_class_octet >> 2 != 0 || !view->destination.is_link_local_multicast());
    originate_in(now, &p, port, says_class ? classify(*f.trust, p) : Priority{f.trust->dscp_to_class[kNetworkControl]});
  }
}

void Switch::control_link(PortIndex port, bool up) noexcept {
  if (control_.empty() || control_[port.index()].speaker == nullptr) return;
  control_[port.index()].speaker->set_carrier(up);
}

}  // namespace railyard
