#include "dataplane/wire/icmp.h"

#include <algorithm>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/parse.h"

namespace railyard::wire {
namespace {

constexpr std::uint8_t kInternetworkControl = 0xC0;  // precedence 6, RFC 1812 §4.3.2.5
constexpr std::uint8_t kErrorTtl = 64;

bool is_icmp_error(std::uint8_t type) noexcept {
  switch (type) {
    case icmp_type::kDestinationUnreachable:
    case icmp_type::kSourceQuench:
    case icmp_type::kRedirect:
    case icmp_type::kTimeExceeded:
    case icmp_type::kParameterProblem:
      return true;
    default:
      return false;
  }
}

// RFC 1812 §4.3.2.7: 0.0.0.0/8, loopback, multicast, class E and broadcast are not the address of one host.
bool is_one_host(std::uint32_t v4) noexcept { return v4 >> 24 != 0 && v4 >> 24 != 127 && v4 >> 28 < 0xE; }

}  // namespace

bool icmp_error_allowed(std::span<const std::byte> frame, const FrameView& view) noexcept {
  const std::byte* const ip = frame.data() + view.l3_offset;
  if (read<Ethernet::Destination>(frame.data()).is_multicast()) return false;
  if (!is_one_host(view.source.v4()) || view.destination.is_multicast() || view.destination.is_broadcast()) {
    return false;
  }
  if (read<Ipv4::FragmentOffset>(ip) != 0) return false;
  if (view.protocol != ip_protocol::kIcmp) return true;
  return view.l4_offset != 0 && !is_icmp_error(read<Icmp::Type>(frame.data() + view.l4_offset));
}

std::size_t write_icmp_error(std::span<std::byte> out, const LinkHeader& link, const IpAddress& source,
                             const IcmpError& error, std::span<const std::byte> original,
                             const FrameView& view) noexcept {
  if (!icmp_error_allowed(original, view)) return 0;
  const auto packet = original.subspan(view.l3_offset);
  const std::size_t quoted = std::min(
      {packet.size(), static_cast<std::size_t>(view.ip_octets), kIcmpErrorMaxIpOctets - Ipv4::kOctets - Icmp::kOctets});
  const std::size_t ip_octets = Ipv4::kOctets + Icmp::kOctets + quoted;
  if (out.size() < link.octets() + ip_octets) return 0;

  std::byte* const ip = write_link_header(out.data(), link, ether_type::kIpv4);
  std::fill_n(ip, Ipv4::kOctets + Icmp::kOctets, std::byte{0});
  write<Ipv4::Version>(ip, 4);
  write<Ipv4::IHL>(ip, Ipv4::kOctets / 4);
  write<Ipv4::TrafficClass>(ip, kInternetworkControl);
  write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(ip_octets));
  write<Ipv4::DF>(ip, 1);
  write<Ipv4::TTL>(ip, kErrorTtl);
  write<Ipv4::Protocol>(ip, ip_protocol::kIcmp);
  write<Ipv4::Source>(ip, source.v4());
  write<Ipv4::Destination>(ip, view.source.v4());
  write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));

  std::byte* const icmp = ip + Ipv4::kOctets;
  write<Icmp::Type>(icmp, error.type);
  write<Icmp::Code>(icmp, error.code);
  write<Icmp::Rest>(icmp, error.rest);
  std::copy_n(packet.data(), quoted, icmp + Icmp::kOctets);
  write<Icmp::Checksum>(icmp, internet_checksum({icmp, Icmp::kOctets + quoted}));
  return link.octets() + ip_octets;
}

}  // namespace railyard::wire
