#include "transports/roce/roce_endpoint.h"

#include <algorithm>

#include "dataplane/wire/ecn.h"
#include "dataplane/wire/icrc.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"

namespace railyard::roce {

std::size_t RoceEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  engine_.begin_burst();
  std::size_t n = 0;
  OutPacket out;
  while (n < frames.size() && engine_.send(now, priority, out)) {
    TxFrame& frame = frames[n++];
    const std::size_t front = out.path->write(frame.header, out.packet.octets());
    const std::size_t behind = encode_headers({frame.header + front, kMaxHeaderOctets - front}, out.packet);
    frame.header_octets = static_cast<std::uint16_t>(front + behind);
    frame.trailer_octets = static_cast<std::uint8_t>(out.packet.bth.pad_cnt + wire::kIcrcOctets);
    frame.flow = out.path->flow();
    frame.tag = out.path->tag();
    frame.payload = out.payload;
    frame.telemetry = out.telemetry;
  }
  return n;
}

bool RoceEndpoint::receive(std::span<const RxFrame> frames) {
  for (const RxFrame& frame : frames) {
    InPacket in;
    receive_one(frame, in);
  }
  return !frames.empty();
}

std::optional<Drop> RoceEndpoint::receive_one(const RxFrame& frame, InPacket& in) {
  std::span<const std::byte> octets = frame.header;
  PayloadRef rest = frame.payload;
  // Real octets mostly lie behind the header; then all is one piece.
  if (rest.bytes != nullptr && rest.octets > 0) {
    if (rest.bytes == octets.data() + octets.size()) {
      octets = {octets.data(), octets.size() + rest.octets};
    } else {
      whole_.assign(octets.begin(), octets.end());
      whole_.insert(whole_.end(), rest.bytes, rest.bytes + rest.octets);
      octets = whole_;
    }
    rest = {.stream = rest.stream, .offset = rest.offset + rest.octets};
  }
  const std::size_t frame_octets =
      octets.size() + rest.octets + (frame.icrc_pending ? std::size_t{wire::kIcrcOctets} : 0);
  if (frame.trimmed) [[unlikely]] {
    if (const auto view = wire::parse_frame(octets, frame_octets)) in.packet.bth.dest_qp = view->destination_qp;
    return dropped(Drop::kTrimmed);
  }
  const std::optional<Datagram> found = find_datagram(octets, frame_octets, in);
  if (!found) return dropped(Drop::kNotRoce);
  if (const auto bad = take(frame, octets, *found, rest, in)) [[unlikely]] {
    in.packet = {};
    return bad;
  }
  if (frame.telemetry) [[unlikely]] {
    telemetry_ = frame.path_telemetry();
    in.telemetry = &telemetry_;
  }
  return engine_.on_packet(frame.at, in);
}

// Where its BTH begins and its IP packet ends; nullopt: it is no RoCEv2 datagram. Says in `in` where it comes from.
std::optional<RoceEndpoint::Datagram> RoceEndpoint::find_datagram(std::span<const std::byte> octets,
                                                                  std::size_t frame_octets, InPacket& in) noexcept {
  using wire::Ipv4;
  if (known_.has(octets, frame_octets)) [[likely]] {
    const std::byte* const ip = octets.data() + KnownHeaders::kIpAt;
    in.source = wire::IpAddress(wire::read<Ipv4::Source>(ip));
    in.destination = wire::IpAddress(wire::read<Ipv4::Destination>(ip));
    in.ce = wire::ecn_of(wire::read<Ipv4::TrafficClass>(ip)) == wire::Ecn::kCe;
    in.ip = octets.subspan(KnownHeaders::kIpAt, Ipv4::kOctets);
    return Datagram{KnownHeaders::kOctets, KnownHeaders::kIpAt + std::size_t{wire::read<Ipv4::TotalLength>(ip)}};
  }
  const auto view = wire::parse_frame(octets, frame_octets);
  if (!view || view->l4_offset == 0 || view->destination_port != wire::kRoceV2Port) return std::nullopt;
  const std::size_t udp_octets = wire::read<wire::Udp::Length>(octets.data() + view->l4_offset);
  const std::size_t ip_end = view->l3_offset + std::size_t{view->ip_octets};
  if (udp_octets < wire::Udp::kOctets || view->l4_offset + udp_octets != ip_end) return std::nullopt;
  if (view->kind == wire::FrameKind::kIpv4 && view->l3_offset == KnownHeaders::kIpAt &&
      view->l4_offset == KnownHeaders::kUdpAt)
    known_.note(octets, frame_octets);
  in.source = view->source;
  in.destination = view->destination;
  in.ce = wire::ecn_of(view->traffic_class_octet) == wire::Ecn::kCe;
  in.ip = octets.subspan(view->l3_offset, view->l4_offset - view->l3_offset);
  return Datagram{view->l4_offset + std::size_t{wire::Udp::kOctets}, ip_end};
}

// What is behind UDP. `rest`: of the payload, what is not among `octets`.
std::optional<Drop> RoceEndpoint::take(const RxFrame& frame, std::span<const std::byte> octets, const Datagram& found,
                                       const PayloadRef& rest, InPacket& in) {
  const auto [begin, ip_end] = found;
  const auto there = octets.subspan(begin, std::min(octets.size(), ip_end) - begin);
  if (const auto bad = decode(there, ip_end - begin, in.packet)) [[unlikely]] {
    engine_.on_malformed(*bad);
    return Drop::kMalformed;
  }
  if (!frame.icrc_pending) {
    const auto ip_at = static_cast<std::size_t>(in.ip.data() - octets.data());
    if (octets.size() < ip_end || !wire::icrc_matches(octets.subspan(ip_at, ip_end - ip_at)))
      return dropped(Drop::kIcrc);
  }
  const std::size_t payload_at = begin + in.packet.header_octets();
  in.payload.octets = in.packet.payload_octets;
  if (payload_at < octets.size()) {
    if (octets.size() < payload_at + in.packet.payload_octets) return dropped(Drop::kNotRoce);
    in.payload.bytes = octets.data() + payload_at;
  } else {
    in.payload.stream = rest.stream;
    in.payload.offset = rest.offset;
  }
  return std::nullopt;
}

}  // namespace railyard::roce
