#include "transports/uet/uet_endpoint.h"

#include <algorithm>

#include "dataplane/wire/ecn.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/parse.h"
#include "transports/uet/wire/plain_frame.h"

namespace railyard::uet {

std::size_t UetEndpoint::send(Instant now, Priority priority, std::span<TxFrame> frames) {
  std::size_t n = 0;
  OutPacket out;
  Engine::Ahead ahead;
  while (n < frames.size() && send_one(now, priority, frames[n], out, ahead)) ++n;
  return n;
}

UetEndpoint::UetEndpoint(const EngineConfig& config, const EncapsulationConfig& encapsulation, RngStream chance,
                         bool real_payload)
    : engine_(config, chance),
      dialect_(config.dialect),
      encapsulation_(encapsulation),
      of_trimmed_(encapsulation),
      real_payload_(real_payload),
      known_to_fabric_(encapsulation.udp ? encapsulation.udp_port == wire::kUetPort
                                         : encapsulation.ip_protocol == wire::ip_protocol::kUetNative) {
  of_trimmed_.crc = false;
  classes_.push_back({encapsulation.dscp.trimmable, encapsulation.ect});
  for (const DataClass& c : config.other_classes) classes_.push_back({c.dscp, c.ect});
  ways_ = static_cast<std::uint32_t>(classes_.size() + 1);
}

bool UetEndpoint::send_one(Instant now, Priority priority, TxFrame& frame, OutPacket& out, Engine::Ahead& ahead) {
  if (!engine_.send(now, priority, out, ahead)) return false;
  if (security_ != nullptr) [[unlikely]]
    fill_secured(now, out, frame);
  else
    fill(out, frame);
  return true;
}

const OuterPath& UetEndpoint::path(const OutPacket& out, std::size_t way) {
  if (way >= paths_.size()) [[unlikely]]
    paths_.resize(way + 1);
  OuterPath& path = paths_[way];
  if (path.octets() == 0) [[unlikely]] {
    const AddressVector& to = engine_.address(out.to);
    const Mark mark = out.control ? Mark{encapsulation_.dscp.control, false} : classes_[out.data_class];
    path = OuterPath(encapsulation_, {.source_mac = to.source_mac,
                                      .next_hop_mac = to.next_hop_mac,
                                      .source = to.source,
                                      .destination = to.destination,
                                      .dscp = mark.dscp,
                                      .ecn = mark.ect ? wire::Ecn::kEct0 : wire::Ecn::kNotEct});
  }
  return path;
}

// Of this end's classes the one that is marked as what has come; the first one of its DSCP, if they differ in ECN. None
// of that DSCP: a switch has put a packet into its class for trimmed ones that was too short to be cut; then the first
// one of its ECN, which stays. Class 0: none is.
std::uint8_t UetEndpoint::class_of(std::uint8_t traffic_class_octet) const noexcept {
  if (classes_.size() == 1) [[likely]]
    return 0;
  const int dscp = traffic_class_octet >> 2;
  const bool ect = wire::ecn_of(traffic_class_octet) != wire::Ecn::kNotEct;
  const std::size_t none = classes_.size();
  std::size_t of_dscp = none;
  std::size_t of_ecn = none;
  for (std::size_t c = 0; c < none; ++c) {
    const bool same = classes_[c].ect == ect;
    if (classes_[c].dscp == dscp) {
      if (same) return static_cast<std::uint8_t>(c);
      of_dscp = std::min(of_dscp, c);
    } else if (same) {
      of_ecn = std::min(of_ecn, c);
    }
  }
  return static_cast<std::uint8_t>(of_dscp < none ? of_dscp : of_ecn % none);
}

void UetEndpoint::fill(const OutPacket& out, TxFrame& frame) {
  static_assert(kMostOuterOctets <= kMaxHeaderOctets);
  const std::size_t trailer = encapsulation_.trailer_octets();
  const std::span<std::byte> header(frame.header, kMaxHeaderOctets);
  const std::size_t to = way(out);
  const OuterPath& front = path(out, to);
  front.begin(frame.header);
  const std::size_t inner = encode_headers(header.subspan(front.octets()), out.packet, dialect_);
  std::size_t octets = inner + front.complete(frame.header, inner + out.packet.payload_octets + trailer, out.entropy);
  frame.payload = out.payload;
  // What the engine has made itself goes into the headers: it does not stay where it is.
  if (out.payload.bytes != nullptr && out.payload.octets <= kMostAckData &&
      octets + out.payload.octets <= kMaxHeaderOctets) {
    std::copy_n(out.payload.bytes, out.payload.octets, frame.header + octets);
    octets += out.payload.octets;
    frame.payload = {};
  }
  frame.header_octets = static_cast<std::uint16_t>(octets);
  frame.trailer_octets = static_cast<std::uint8_t>(trailer);
  frame.flow = known_to_fabric_ ? static_cast<std::uint32_t>(to) : TxFrame::kNoFlow;
}

bool UetEndpoint::receive(std::span<const RxFrame> frames) {
  for (const RxFrame& frame : frames)
    if (!parse(frame, in_)) engine_.on_packet(frame.at, in_);
  return !frames.empty();
}

std::optional<Drop> UetEndpoint::parse(const RxFrame& frame, InPacket& in) {
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
  const std::size_t pending = frame.icrc_pending ? encapsulation_.trailer_octets() : 0;
  const std::size_t frame_octets = octets.size() + rest.octets + pending;
  Inner inner;
  Around around{.frame = octets};
  if (const auto plain = frame.trimmed ? std::nullopt : take_plain(octets, frame_octets, encapsulation_)) [[likely]] {
    inner = plain->inner;
    in.source = plain->source;
    in.destination = plain->destination;
    in.ce = wire::ecn_of(plain->traffic_class_octet) == wire::Ecn::kCe;
    in.data_class = class_of(plain->traffic_class_octet);
    around.l3 = wire::Ethernet::kOctets;
  } else {
    const auto view = wire::parse_frame(octets, frame_octets);
    if (!view) {
      engine_.on_not_uet(NotUet::kOther);
      return Drop::kNotUet;
    }
    const auto taken = decapsulate(octets, *view, frame.trimmed ? of_trimmed_ : encapsulation_);
    if (!taken) {
      engine_.on_not_uet(taken.error());
      return Drop::kNotUet;
    }
    inner = *taken;
    in.source = view->source;
    in.destination = view->destination;
    in.ce = wire::ecn_of(view->traffic_class_octet) == wire::Ecn::kCe;
    in.data_class = class_of(view->traffic_class_octet);
    around = {.frame = octets.first(std::min(octets.size(), std::size_t{view->l3_offset} + view->ip_octets)),
              .l3 = view->l3_offset,
              .v4 = view->kind == wire::FrameKind::kIpv4};
  }
  in.source_mac = wire::read<wire::Ethernet::Source>(octets.data());
  in.destination_mac = wire::read<wire::Ethernet::Destination>(octets.data());
  in.entropy = inner.entropy;
  in.last_hop = inner.trimmed == Trimmed::kTrimmedLasthop;
  in.trimmed = frame.trimmed || inner.trimmed != Trimmed::kNo;
  in.payload = {};
  if (security_ != nullptr) [[unlikely]]
    if (const auto drop = open_secured(around, in, in.trimmed, frame.corrupted, inner)) {
      engine_.on_insecure(*drop);
      return Drop::kSecurity;
    }
  if (in.trimmed) {
    if (const auto bad = decode_pds_into(inner.octets, in.packet.pds)) {
      engine_.on_malformed(*bad);
      return Drop::kMalformed;
    }
    in.packet.payload_octets = 0;
    const auto headers = decode(inner.octets, inner.packet_octets, dialect_);
    in.packet.ses = headers ? headers->ses : Ses{};
    return std::nullopt;
  }
  if (const auto bad = decode_into(inner.octets, inner.packet_octets, in.packet, dialect_)) {
    engine_.on_malformed(*bad);
    return Drop::kMalformed;
  }
  in.payload.octets = in.packet.payload_octets;
  const std::size_t payload_at = inner.packet_octets - in.packet.payload_octets;
  if (inner.octets.size() >= inner.packet_octets) {
    if (in.payload.octets > 0) in.payload.bytes = inner.octets.data() + payload_at;
  } else if (inner.octets.size() <= payload_at) {
    in.payload.stream = rest.stream;
    in.payload.offset = rest.offset;
  } else {
    engine_.on_not_uet(NotUet::kBadLength);
    return Drop::kNotUet;
  }
  return std::nullopt;
}

}  // namespace railyard::uet
