#include "transports/uet/wire/encapsulation.h"

#include <algorithm>
#include <array>

#include "dataplane/base/assert.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/crc32c.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/uet_entropy.h"
#include "transports/uet/wire/tss.h"

namespace railyard::uet {
namespace {

using namespace wire;

constexpr std::size_t kL3 = Ethernet::kOctets;
constexpr std::size_t kMostIpOctets = 0xFFFF;

std::size_t ip_octets(const OuterHeaders& outer) noexcept {
  return outer.source.is_v4() ? std::size_t{Ipv4::kOctets} : std::size_t{Ipv6::kOctets};
}
std::size_t l4_octets(const EncapsulationConfig& config) noexcept {
  return config.udp ? std::size_t{Udp::kOctets} : std::size_t{UetEntropy::kOctets};
}

void write_ipv4(std::byte* ip, std::uint8_t protocol, std::uint8_t hop_limit, const OuterHeaders& outer,
                std::size_t total) noexcept {
  std::fill_n(ip, std::size_t{Ipv4::kOctets}, std::byte{0});
  write<Ipv4::Version>(ip, 4);
  write<Ipv4::IHL>(ip, 5);
  write<Ipv4::DSCP>(ip, outer.dscp);
  write<Ipv4::ECN>(ip, static_cast<std::uint8_t>(outer.ecn));
  write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(total));
  write<Ipv4::DF>(ip, 1);
  write<Ipv4::TTL>(ip, hop_limit);
  write<Ipv4::Protocol>(ip, protocol);
  write<Ipv4::Source>(ip, outer.source.v4());
  write<Ipv4::Destination>(ip, outer.destination.v4());
  write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));
}

void write_ipv6(std::byte* ip, std::uint8_t protocol, std::uint8_t hop_limit, const OuterHeaders& outer,
                std::size_t payload) noexcept {
  write<Ipv6::Version>(ip, 6);
  write<Ipv6::DSCP>(ip, outer.dscp);
  write<Ipv6::ECN>(ip, static_cast<std::uint8_t>(outer.ecn));
  write<Ipv6::FlowLabel>(ip, 0);
  write<Ipv6::PayloadLength>(ip, static_cast<std::uint16_t>(payload));
  write<Ipv6::NextHeader>(ip, protocol);
  write<Ipv6::HopLimit>(ip, hop_limit);
  write<Ipv6::Source>(ip, outer.source);
  write<Ipv6::Destination>(ip, outer.destination);
}

Trimmed trimmed(const FrameView& view, const DscpConfig& dscp) noexcept {
  const unsigned code_point = view.traffic_class_octet >> 2;
  if (code_point == dscp.trimmed) return Trimmed::kTrimmed;
  if (code_point == dscp.trimmed_lasthop) return Trimmed::kTrimmedLasthop;
  return view.trimmed ? Trimmed::kTrimmed : Trimmed::kNo;
}

}  // namespace

std::string_view name(NotUet reason) noexcept {
  constexpr std::array<std::string_view, kNotUetReasons> kNames{"other", "too_short", "bad_length", "bad_crc"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::size_t outer_octets(const EncapsulationConfig& config, const OuterHeaders& outer) noexcept {
  return kL3 + ip_octets(outer) + l4_octets(config);
}

std::size_t encode_outer(std::span<std::byte> out, const EncapsulationConfig& config, const OuterHeaders& outer,
                         std::size_t inner_octets) noexcept {
  const bool v4 = outer.source.is_v4();
  RAILYARD_ASSERT(v4 == outer.destination.is_v4(), "both addresses are of one family");
  const std::size_t octets = outer_octets(config, outer);
  const std::size_t behind_ip = l4_octets(config) + inner_octets;
  if (out.size() < octets || behind_ip + (v4 ? std::size_t{Ipv4::kOctets} : 0) > kMostIpOctets) return 0;

  std::byte* const at = out.data();
  write<Ethernet::Destination>(at, outer.next_hop_mac);
  write<Ethernet::Source>(at, outer.source_mac);
  write<Ethernet::EtherType>(at, v4 ? ether_type::kIpv4 : ether_type::kIpv6);
  const std::uint8_t protocol = config.udp ? ip_protocol::kUdp : config.ip_protocol;
  if (v4)
    write_ipv4(at + kL3, protocol, config.hop_limit, outer, Ipv4::kOctets + behind_ip);
  else
    write_ipv6(at + kL3, protocol, config.hop_limit, outer, behind_ip);

  std::byte* const l4 = at + kL3 + ip_octets(outer);
  if (config.udp) {
    write<Udp::SourcePort>(l4, outer.entropy);
    write<Udp::DestinationPort>(l4, config.udp_port);
    write<Udp::Length>(l4, static_cast<std::uint16_t>(behind_ip));
    write<Udp::Checksum>(l4, 0);  // UE-Spec 1.0 §3.5.10.1, over IPv6 too
  } else {
    write<UetEntropy::Entropy>(l4, outer.entropy);
    write<UetEntropy::Reserved>(l4, 0);
  }
  return octets;
}

std::uint32_t crc_of(std::span<const std::byte> ip_packet) noexcept {
  RAILYARD_ASSERT(ip_packet.size() >= Ipv4::kOctets, "a CRC begins within an IP header");
  const std::size_t source = read<Ipv4::Version>(ip_packet.data()) == 4 ? Ipv4::Source::kFirstOctet  //
                                                                        : Ipv6::Source::kFirstOctet;
  return crc32c(ip_packet.subspan(source));
}

void write_crc(std::byte* at, std::uint32_t crc, bool msb_first) noexcept {
  write<Field<0, 32>>(at, msb_first ? crc : std::byteswap(crc));
}

std::uint32_t read_crc(const std::byte* at, bool msb_first) noexcept {
  const std::uint32_t word = read<Field<0, 32>>(at);
  return msb_first ? word : std::byteswap(word);
}

std::expected<Inner, NotUet> decapsulate(std::span<const std::byte> frame, const FrameView& view,
                                         const EncapsulationConfig& config) noexcept {
  using enum NotUet;
  if (view.kind != FrameKind::kIpv4 && view.kind != FrameKind::kIpv6) return std::unexpected(kOther);
  if (view.is_fragment) return std::unexpected(kOther);
  const std::size_t ip_end = std::size_t{view.l3_offset} + view.ip_octets;
  Inner inner{.trimmed = trimmed(view, config.dscp)};
  std::size_t begin = 0;
  if (config.udp) {
    if (view.protocol != ip_protocol::kUdp || view.l4_offset == 0 || view.destination_port != config.udp_port)
      return std::unexpected(kOther);
    begin = view.l4_offset + Udp::kOctets;
    inner.entropy = view.source_port;
    const std::size_t udp_end = view.l4_offset + read<Udp::Length>(frame.data() + view.l4_offset);
    if (udp_end != ip_end && inner.trimmed == Trimmed::kNo) return std::unexpected(kBadLength);
  } else {
    if (view.protocol != config.ip_protocol) return std::unexpected(kOther);
    // Of the number that wire::parse_frame() knows, the entropy header is among those that it has skipped.
    begin = std::size_t{view.header_octets} + (view.uet_entropy ? 0 : UetEntropy::kOctets);
    if (begin > ip_end || begin > frame.size()) return std::unexpected(kTooShort);
    inner.entropy = read<UetEntropy::Entropy>(frame.data() + begin - UetEntropy::kOctets);
  }

  const auto whole = frame.first(std::min(frame.size(), ip_end));
  inner.octets = whole.subspan(begin);
  inner.packet_octets = ip_end - begin;
  inner.secured = is_secured(inner.octets);
  if (inner.trimmed != Trimmed::kNo) return inner;
  const std::size_t trailer = inner.secured ? kIcvOctets : config.trailer_octets();
  if (inner.packet_octets < trailer) return std::unexpected(kTooShort);
  inner.packet_octets -= trailer;
  inner.octets = inner.octets.first(std::min(inner.octets.size(), inner.packet_octets));
  if (!inner.secured && config.crc && whole.size() == ip_end) {
    const auto covered = whole.subspan(view.l3_offset, view.ip_octets - kCrcOctets);
    if (read_crc(whole.data() + ip_end - kCrcOctets, config.crc_msb_first) != crc_of(covered))
      return std::unexpected(kBadCrc);
    inner.crc_checked = true;
  }
  return inner;
}

}  // namespace railyard::uet
