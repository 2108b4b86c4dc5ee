#include "dataplane/fault/frame_match.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/uet_entropy.h"

namespace railyard {

namespace {

// The bits of a test as those of a big-endian word of four octets that begins at octet `from` of the header; nothing if
// the test looks at others.
std::optional<FrameMatch::Bits> bits_of(const wire::FieldTest& t, std::size_t from) {
  if (t.first_octet < from || t.first_octet + std::size_t{t.octets} > from + 4) return std::nullopt;
  FrameMatch::Bits bits;
  for (std::size_t i = 0; i < t.octets; ++i) {
    const std::size_t shift = 8 * (3 - (t.first_octet + i - from));
    bits.mask |= std::to_integer<std::uint32_t>(t.mask[i]) << shift;
    bits.value |= std::to_integer<std::uint32_t>(t.value[i]) << shift;
  }
  return bits;
}

// As wire::parse_frame() does it for what it knows to be UET.
void find_uet(const FrameMatch& m, wire::FrameView& v, std::span<const std::byte> frame) noexcept {
  if (v.uet_entropy || v.is_fragment || v.kind > FrameKind::kIpv6) return;
  if (v.protocol == wire::ip_protocol::kUdp) {
    if (v.l4_offset != 0 && std::ranges::count(m.uet_udp_ports, v.destination_port) != 0) v.uet_entropy = v.source_port;
  } else if (v.l4_offset == 0 && std::ranges::count(m.uet_ip_protocols, v.protocol) != 0 &&
             v.header_octets + wire::UetEntropy::kOctets <=
                 std::min(frame.size(), v.l3_offset + std::size_t{v.ip_octets})) {
    v.uet_entropy = wire::read<wire::UetEntropy::Entropy>(frame.data() + v.header_octets);
    v.header_octets = static_cast<std::uint16_t>(v.header_octets + wire::UetEntropy::kOctets);
  }
}

}  // namespace

void FrameMatch::add(std::vector<wire::FieldTest> one_of) {
  if (one_of.size() == 1) {
    const wire::FieldTest& t = one_of[0];
    constexpr std::uint32_t kDestQp = 0xFFFFFF;
    const auto require = [](Bits& of, const Bits& also) {
      of.mask |= also.mask;
      of.value |= also.value & also.mask;
    };
    if (t.layer == wire::HeaderLayer::kUdp || t.layer == wire::HeaderLayer::kTcp) {
      if (const auto bits = bits_of(t, 0)) require(ports, *bits);
    } else if (t.layer == wire::HeaderLayer::kBth) {
      if (const auto bits = bits_of(t, 4); bits && (bits->mask & ~kDestQp) == 0) require(entropy, *bits);
    }
  }
  all_of.push_back(std::move(one_of));
}

bool FrameMatch::everything() const noexcept {
  return all_of.empty() && least_octets == 0 && most_octets == ~std::uint32_t{0} && !stream && !dscps && !pcps;
}

bool FrameMatch::matches(const Packet& p) const noexcept {
  if (p.frame_octets < least_octets || p.frame_octets > most_octets) return false;
  if (stream && p.stream != *stream) return false;
  if (dscps && (p.kind > FrameKind::kIpv6 || (*dscps >> (p.traffic_class_octet >> 2) & 1) == 0)) return false;
  if (pcps && (*pcps >> p.pcp & 1) == 0) return false;
  if (all_of.empty()) return true;
  if (!ports.hold(p.transport_hash) || !entropy.hold(p.entropy)) return false;
  const std::size_t real = p.header_octets + (p.has(Packet::kElided) ? std::size_t{0} : p.payload_octets);
  const std::span<const std::byte> frame(p.header(), real);
  auto parsed = wire::parse_frame(frame, p.frame_octets - wire::kFcsOctets);
  if (parsed) find_uet(*this, *parsed, frame);
  wire::FrameView none;
  none.kind = FrameKind::kArp;
  const wire::FrameView& view = parsed ? *parsed : none;
  return std::ranges::all_of(all_of, [&](const std::vector<wire::FieldTest>& one_of) {
    return std::ranges::any_of(one_of, [&](const wire::FieldTest& t) { return t.holds(frame, view); });
  });
}

}  // namespace railyard
