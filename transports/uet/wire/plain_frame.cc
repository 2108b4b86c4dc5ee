#include "transports/uet/wire/plain_frame.h"

#include <algorithm>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "transports/uet/wire/tss.h"

namespace railyard::uet {

std::optional<PlainFrame> take_plain(std::span<const std::byte> octets, std::size_t frame_octets,
                                     const EncapsulationConfig& config) noexcept {
  using namespace wire;
  constexpr std::size_t kL4 = Ethernet::kOctets + Ipv4::kOctets;
  constexpr std::size_t kInner = kL4 + Udp::kOctets;
  // Behind RoCEv2's port a BTH is looked for.
  if (!config.udp || config.udp_port == kRoceV2Port || octets.size() <= kInner || octets.size() > frame_octets)
    return std::nullopt;
  const std::byte* const ip = octets.data() + Ethernet::kOctets;
  const std::byte* const udp = octets.data() + kL4;
  const std::size_t ip_octets = read<Ipv4::TotalLength>(ip);
  const std::size_t ip_end = Ethernet::kOctets + ip_octets;
  const std::size_t trailer = config.trailer_octets();
  const bool plain = read<Ethernet::EtherType>(octets.data()) == ether_type::kIpv4 && read<Ipv4::Version>(ip) == 4 &&
                     read<Ipv4::IHL>(ip) == 5 && read<Ipv4::MF>(ip) == 0 && read<Ipv4::FragmentOffset>(ip) == 0 &&
                     read<Ipv4::Protocol>(ip) == ip_protocol::kUdp &&
                     read<Udp::DestinationPort>(udp) == config.udp_port && ip_end <= frame_octets &&
                     ip_end >= kInner + trailer && read<Udp::Length>(udp) == ip_octets - Ipv4::kOctets;
  // If all of it is there, so is its CRC.
  const bool has_crc = config.crc && octets.size() >= ip_end;
  if (!plain || has_crc || octets.size() > ip_end || !has_right_checksum(std::span<const std::byte, Ipv4::kOctets>(ip, Ipv4::kOctets)))
    return std::nullopt;
  const std::uint8_t traffic_class = read<Ipv4::TrafficClass>(ip);
  const unsigned code_point = traffic_class >> 2;
  const std::size_t packet_octets = ip_end - kInner - trailer;
  const auto packet = octets.subspan(kInner, std::min(octets.size() - kInner, packet_octets));
  if (code_point == config.dscp.trimmed || code_point == config.dscp.trimmed_lasthop || is_secured(packet))
    return std::nullopt;
  return PlainFrame{.source = IpAddress(read<Ipv4::Source>(ip)),
                    .destination = IpAddress(read<Ipv4::Destination>(ip)),
                    .traffic_class_octet = traffic_class,
                    .inner = {.octets = packet, .packet_octets = packet_octets, .entropy = read<Udp::SourcePort>(udp)}};
}

}  // namespace railyard::uet
