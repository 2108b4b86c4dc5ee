#include "dataplane/wire/header_field.h"

#include <algorithm>

#include "dataplane/wire/bth.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/tcp.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_pds.h"
#include "dataplane/wire/vlan.h"

namespace railyard::wire {
namespace {

using Layer = HeaderLayer;
using Kind = HeaderFieldKind;

template <class F>
constexpr HeaderField number(std::string_view name, Layer layer) {
  return {name, layer, Kind::kNumber, F::kFirstBit, F::kEndBit - F::kFirstBit, 0, 0};
}
template <class V4, class V6>
constexpr HeaderField ip_number(std::string_view name) {
  return {name,
          Layer::kIpv4,
          Kind::kNumber,
          V4::kFirstBit,
          V4::kEndBit - V4::kFirstBit,
          V6::kFirstBit,
          V6::kEndBit - V6::kFirstBit};
}
template <class V4, class V6>
constexpr HeaderField ip_address(std::string_view name) {
  return {name, Layer::kIpv4, Kind::kIpAddress, V4::kFirstBit, 32, V6::kFirstBit, 128};
}

constexpr std::array kFields{
    HeaderField{"eth.dst", Layer::kEthernet, Kind::kMac, Ethernet::Destination::kFirstBit, 48, 0, 0},
    HeaderField{"eth.src", Layer::kEthernet, Kind::kMac, Ethernet::Source::kFirstBit, 48, 0, 0},
    number<Ethernet::EtherType>("eth.type", Layer::kEthernet),
    number<Vlan::VID>("vlan.id", Layer::kVlan),
    number<Vlan::PCP>("vlan.pcp", Layer::kVlan),
    ip_number<Ipv4::Version, Ipv6::Version>("ip.version"),
    ip_number<Ipv4::DSCP, Ipv6::DSCP>("ip.dscp"),
    ip_number<Ipv4::ECN, Ipv6::ECN>("ip.ecn"),
    ip_number<Ipv4::TTL, Ipv6::HopLimit>("ip.ttl"),
    ip_number<Ipv4::Protocol, Ipv6::NextHeader>("ip.proto"),
    ip_address<Ipv4::Source, Ipv6::Source>("ip.src"),
    ip_address<Ipv4::Destination, Ipv6::Destination>("ip.dst"),
    number<Udp::SourcePort>("udp.sport", Layer::kUdp),
    number<Udp::DestinationPort>("udp.dport", Layer::kUdp),
    number<Tcp::SourcePort>("tcp.sport", Layer::kTcp),
    number<Tcp::DestinationPort>("tcp.dport", Layer::kTcp),
    number<Tcp::Flags>("tcp.flags", Layer::kTcp),
    number<Bth::OpCode>("bth.opcode", Layer::kBth),
    number<Bth::SE>("bth.se", Layer::kBth),
    number<Bth::MigReq>("bth.migreq", Layer::kBth),
    number<Bth::PKey>("bth.pkey", Layer::kBth),
    number<Bth::FECN>("bth.fecn", Layer::kBth),
    number<Bth::BECN>("bth.becn", Layer::kBth),
    number<Bth::DestQP>("bth.dest_qp", Layer::kBth),
    number<Bth::AckReq>("bth.ackreq", Layer::kBth),
    number<Bth::PSN>("bth.psn", Layer::kBth),
    number<UetPds::Type>("uet.type", Layer::kUetPds),
    number<UetPds::NextHdr>("uet.next_hdr", Layer::kUetPds),
    number<UetPds::Flags>("uet.flags", Layer::kUetPds),
    number<UetPds::PSN>("uet.psn", Layer::kUetPds),
    number<UetPds::SPDCID>("uet.spdcid", Layer::kUetPds),
    number<UetPds::DPDCID>("uet.dpdcid", Layer::kUetPds),
    number<UetSesCommon::Opcode>("uet.opcode", Layer::kUetSes),
    number<UetSesCommon::MessageId>("uet.message_id", Layer::kUetSes),
};

std::size_t pds_offset(const FrameView& view) noexcept {
  if (!view.uet_entropy || view.l4_offset == 0) return view.uet_entropy ? view.header_octets : 0;
  return view.protocol == ip_protocol::kUdp ? view.l4_offset + Udp::kOctets : std::size_t{view.header_octets};
}

// Behind the PDS header of a packet whose SES header has a message id: STD requests, responses, data of READs.
std::size_t ses_offset(std::span<const std::byte> frame, const FrameView& view) noexcept {
  const std::size_t pds = pds_offset(view);
  if (pds == 0 || pds + UetPds::kPrologueOctets > frame.size()) return 0;
  const auto next = read<UetPds::NextHdr>(frame.data() + pds);
  if (next < 3 || next > 5) return 0;
  // By type, UET page §2: RUD and ROD requests, RUDI, UUD, ACKs, RUD and ROD with CC.
  constexpr std::array<std::uint8_t, 16> kOctetsByType{0, 0, 12, 12, 8, 8, 4, 12, 32, 40, 0, 0, 0, 16, 16, 0};
  const auto type = read<UetPds::Type>(frame.data() + pds);
  return type >= kOctetsByType.size() || kOctetsByType[type] == 0 ? 0 : pds + kOctetsByType[type];
}

// Where the header begins in the frame; 0 for none but Ethernet's.
std::size_t offset_of(Layer layer, std::span<const std::byte> frame, const FrameView& view) noexcept {
  switch (layer) {
    case Layer::kEthernet:
      return 0;
    case Layer::kVlan:
      return view.tagged ? Ethernet::kOctets : 0;
    case Layer::kIpv4:
      return view.kind == FrameKind::kIpv4 ? view.l3_offset : 0;
    case Layer::kIpv6:
      return view.kind == FrameKind::kIpv6 ? view.l3_offset : 0;
    case Layer::kUdp:
      return view.protocol == ip_protocol::kUdp ? view.l4_offset : 0;
    case Layer::kTcp:
      return view.protocol == ip_protocol::kTcp ? view.l4_offset : 0;
    case Layer::kBth:
      return view.has_bth ? view.l4_offset + Udp::kOctets : 0;
    case Layer::kUetPds:
      return pds_offset(view);
    case Layer::kUetSes:
      return ses_offset(frame, view);
  }
  return 0;
}

}  // namespace

std::span<const HeaderField> header_fields() noexcept { return kFields; }

const HeaderField* header_field(std::string_view name) noexcept {
  const auto found = std::ranges::find(kFields, name, &HeaderField::name);
  return found == kFields.end() ? nullptr : &*found;
}

bool FieldTest::holds(std::span<const std::byte> frame, const FrameView& view) const noexcept {
  const std::size_t header = offset_of(layer, frame, view);
  if (header == 0 && layer != HeaderLayer::kEthernet) return false;
  const std::size_t at = header + first_octet;
  if (at + octets > frame.size()) return false;
  for (std::size_t i = 0; i < octets; ++i)
    if ((frame[at + i] & mask[i]) != value[i]) return false;
  return true;
}

FieldTest number_test(HeaderLayer layer, std::size_t first_bit, std::size_t width, std::uint64_t value) noexcept {
  FieldTest t;
  t.layer = layer;
  t.first_octet = static_cast<std::uint8_t>(first_bit / 8);
  const std::size_t end_bit = first_bit + width;
  t.octets = static_cast<std::uint8_t>((end_bit + 7) / 8 - first_bit / 8);
  for (std::size_t b = 0; b < width; ++b) {
    const std::size_t bit = first_bit + b - 8 * (first_bit / 8);
    const auto one = static_cast<std::byte>(0x80u >> (bit % 8));
    t.mask[bit / 8] |= one;
    if ((value >> (width - 1 - b) & 1) != 0) t.value[bit / 8] |= one;
  }
  return t;
}

FieldTest prefix_test(HeaderLayer layer, std::size_t first_octet, std::span<const std::byte> value,
                      std::size_t bits) noexcept {
  FieldTest t;
  t.layer = layer;
  t.first_octet = static_cast<std::uint8_t>(first_octet);
  t.octets = static_cast<std::uint8_t>(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::size_t of_this = bits > 8 * i ? std::min<std::size_t>(8, bits - 8 * i) : 0;
    t.mask[i] = static_cast<std::byte>(0xFF00u >> of_this & 0xFF);
    t.value[i] = value[i] & t.mask[i];
  }
  return t;
}

}  // namespace railyard::wire
