#include "transports/roce/path.h"

#include <cstring>

#include "dataplane/wire/ecn.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"

namespace railyard::roce {
namespace {

constexpr std::size_t kL3 = wire::Ethernet::kOctets;

}  // namespace

Path::Path(const AddressVector& av, std::uint32_t flow) noexcept : av_(av), flow_(flow), tag_(av.tag) {
  using namespace wire;
  const bool v4 = av.source.is_v4();
  std::byte* const h = header_.data();
  wire::write<Ethernet::Destination>(h, av.next_hop_mac);
  wire::write<Ethernet::Source>(h, av.source_mac);
  wire::write<Ethernet::EtherType>(h, v4 ? ether_type::kIpv4 : ether_type::kIpv6);
  const auto traffic_class =
      static_cast<std::uint8_t>(unsigned{av.dscp} << 2 | static_cast<unsigned>(av.ect ? Ecn::kEct0 : Ecn::kNotEct));
  std::byte* const ip = h + kL3;
  if (v4) {
    wire::write<Ipv4::Version>(ip, 4);
    wire::write<Ipv4::IHL>(ip, 5);
    wire::write<Ipv4::TrafficClass>(ip, traffic_class);
    wire::write<Ipv4::DF>(ip, 1);
    wire::write<Ipv4::TTL>(ip, av.hop_limit);
    wire::write<Ipv4::Protocol>(ip, ip_protocol::kUdp);
    wire::write<Ipv4::Source>(ip, av.source.v4());
    wire::write<Ipv4::Destination>(ip, av.destination.v4());
    for (std::size_t i = 0; i < Ipv4::kOctets; i += 2)
      sum_ += std::to_integer<std::uint32_t>(ip[i]) << 8 | std::to_integer<std::uint32_t>(ip[i + 1]);
  } else {
    wire::write<Ipv6::Version>(ip, 6);
    wire::write<Ipv6::TrafficClass>(ip, traffic_class);
    wire::write<Ipv6::NextHeader>(ip, ip_protocol::kUdp);
    wire::write<Ipv6::HopLimit>(ip, av.hop_limit);
    wire::write<Ipv6::Source>(ip, av.source);
    wire::write<Ipv6::Destination>(ip, av.destination);
  }
  octets_ =
      static_cast<std::uint8_t>(kL3 + (v4 ? std::size_t{Ipv4::kOctets} : std::size_t{Ipv6::kOctets}) + Udp::kOctets);
  std::byte* const udp = h + octets_ - Udp::kOctets;
  wire::write<Udp::SourcePort>(udp, av.source_port);
  wire::write<Udp::DestinationPort>(udp, kRoceV2Port);
}

std::size_t Path::write(std::byte* out, std::size_t datagram_octets) const noexcept {
  using namespace wire;
  std::memcpy(out, header_.data(), header_.size());
  const auto udp = static_cast<std::uint16_t>(Udp::kOctets + datagram_octets);
  wire::write<Udp::Length>(out + octets_ - Udp::kOctets, udp);
  std::byte* const ip = out + kL3;
  if (av_.source.is_v4()) {
    const std::uint32_t total = Ipv4::kOctets + std::uint32_t{udp};
    wire::write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(total));
    std::uint32_t sum = sum_ + total;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    wire::write<Ipv4::HeaderChecksum>(ip, static_cast<std::uint16_t>(~sum & 0xFFFF));
  } else {
    wire::write<Ipv6::PayloadLength>(ip, udp);
  }
  return octets_;
}

Path Path::with(std::uint8_t dscp, Priority priority, std::uint32_t flow) const noexcept {
  AddressVector av = av_;
  av.dscp = dscp;
  av.priority = priority;
  av.tag.pcp = FrameTag::kOfClass;
  return Path(av, flow);
}

}  // namespace railyard::roce
