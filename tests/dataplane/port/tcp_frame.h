// TCP segments as a kernel leaves them to its NIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/port/offload_header.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/tcp.h"
#include "tests/support/frames.h"

namespace railyard::test {

using Octets = std::vector<std::byte>;

inline constexpr unsigned kFin = 1;
inline constexpr unsigned kPsh = 8;
inline constexpr unsigned kAck = 16;
inline constexpr unsigned kCwr = 128;
inline constexpr std::uint32_t kSequenceNumber = 0xFFFF'FF00;
inline constexpr std::size_t kTcp = wire::Tcp::kOctets + 12;  // with time stamps

// A TCP segment of `payload` octets, as the kernel leaves it to a NIC.
inline Octets tcp_frame(bool v4, std::size_t payload, unsigned flags) {
  using namespace wire;
  const std::size_t ip_octets = v4 ? Ipv4::kOctets : Ipv6::kOctets;
  Octets frame(Ethernet::kOctets + ip_octets + kTcp + payload);
  std::byte* const l3 = frame.data() + Ethernet::kOctets;
  write<Ethernet::EtherType>(frame.data(), v4 ? ether_type::kIpv4 : ether_type::kIpv6);
  if (v4) {
    write<Ipv4::Version>(l3, 4);
    write<Ipv4::IHL>(l3, 5);
    write<Ipv4::TotalLength>(l3, static_cast<std::uint16_t>(ip_octets + kTcp + payload));
    write<Ipv4::Identification>(l3, 0xFFFF);
    write<Ipv4::DF>(l3, 1);
    write<Ipv4::TTL>(l3, 64);
    write<Ipv4::Protocol>(l3, ip_protocol::kTcp);
    write<Ipv4::Source>(l3, test::ip("10.0.0.1").v4());
    write<Ipv4::Destination>(l3, test::ip("10.0.0.2").v4());
    write<Ipv4::HeaderChecksum>(l3, internet_checksum({l3, ip_octets}));
  } else {
    write<Ipv6::Version>(l3, 6);
    write<Ipv6::PayloadLength>(l3, static_cast<std::uint16_t>(kTcp + payload));
    write<Ipv6::NextHeader>(l3, ip_protocol::kTcp);
    write<Ipv6::HopLimit>(l3, 64);
    write<Ipv6::Source>(l3, test::ip("2001:db8::1"));
    write<Ipv6::Destination>(l3, test::ip("2001:db8::2"));
  }
  std::byte* const tcp = l3 + ip_octets;
  write<Tcp::SequenceNumber>(tcp, kSequenceNumber);
  write<Tcp::DataOffset>(tcp, kTcp / 4);
  write<Tcp::Flags>(tcp, static_cast<std::uint8_t>(flags));
  for (std::size_t i = 0; i < payload; ++i) tcp[kTcp + i] = static_cast<std::byte>(i * 7);
  return frame;
}

inline OffloadHeader offload(bool v4, std::uint16_t gso_size) {
  return {.flags = OffloadHeader::kNeedsChecksum,
          .gso_type = v4 ? OffloadHeader::kGsoTcpV4 : OffloadHeader::kGsoTcpV6,
          .hdr_len = 0,
          .gso_size = gso_size,
          .csum_start = static_cast<std::uint16_t>(wire::Ethernet::kOctets + (v4 ? wire::Ipv4::kOctets : wire::Ipv6::kOctets)),
          .csum_offset = 16};
}

}  // namespace railyard::test
