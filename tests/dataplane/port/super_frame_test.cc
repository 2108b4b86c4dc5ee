#include "dataplane/port/super_frame.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/tcp.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using namespace wire;

using Octets = std::vector<std::byte>;

constexpr unsigned kFin = 1;
constexpr unsigned kPsh = 8;
constexpr unsigned kAck = 16;
constexpr unsigned kCwr = 128;
constexpr std::uint32_t kSequenceNumber = 0xFFFF'FF00;
constexpr std::size_t kTcp = Tcp::kOctets + 12;  // with time stamps

// A TCP segment of `payload` octets, as the kernel leaves it to a NIC.
Octets tcp_frame(bool v4, std::size_t payload) {
  const std::size_t ip = v4 ? Ipv4::kOctets : Ipv6::kOctets;
  Octets frame(Ethernet::kOctets + ip + kTcp + payload);
  std::byte* const l3 = frame.data() + Ethernet::kOctets;
  write<Ethernet::EtherType>(frame.data(), v4 ? ether_type::kIpv4 : ether_type::kIpv6);
  if (v4) {
    write<Ipv4::Version>(l3, 4);
    write<Ipv4::IHL>(l3, 5);
    write<Ipv4::TotalLength>(l3, static_cast<std::uint16_t>(ip + kTcp + payload));
    write<Ipv4::Identification>(l3, 0xFFFF);
    write<Ipv4::DF>(l3, 1);
    write<Ipv4::TTL>(l3, 64);
    write<Ipv4::Protocol>(l3, ip_protocol::kTcp);
    write<Ipv4::Source>(l3, test::ip("10.0.0.1").v4());
    write<Ipv4::Destination>(l3, test::ip("10.0.0.2").v4());
    write<Ipv4::HeaderChecksum>(l3, internet_checksum({l3, ip}));
  } else {
    write<Ipv6::Version>(l3, 6);
    write<Ipv6::PayloadLength>(l3, static_cast<std::uint16_t>(kTcp + payload));
    write<Ipv6::NextHeader>(l3, ip_protocol::kTcp);
    write<Ipv6::HopLimit>(l3, 64);
    write<Ipv6::Source>(l3, test::ip("2001:db8::1"));
    write<Ipv6::Destination>(l3, test::ip("2001:db8::2"));
  }
  std::byte* const tcp = l3 + ip;
  write<Tcp::SequenceNumber>(tcp, kSequenceNumber);
  write<Tcp::DataOffset>(tcp, kTcp / 4);
  write<Tcp::Flags>(tcp, kCwr | kAck | kPsh | kFin);
  for (std::size_t i = 0; i < payload; ++i) tcp[kTcp + i] = static_cast<std::byte>(i * 7);
  return frame;
}

OffloadHeader offload(bool v4, std::uint16_t gso_size) {
  return {.flags = OffloadHeader::kNeedsChecksum,
          .gso_type = v4 ? OffloadHeader::kGsoTcpV4 : OffloadHeader::kGsoTcpV6,
          .hdr_len = 0,
          .gso_size = gso_size,
          .csum_start = static_cast<std::uint16_t>(Ethernet::kOctets + (v4 ? Ipv4::kOctets : Ipv6::kOctets)),
          .csum_offset = 16};
}

TEST(SuperFrame, OfTcpIsCutIntoTheSegmentsThatItsSenderMeans) {
  constexpr std::size_t kPayload = 10'000;
  constexpr std::uint16_t kSegment = 1448;
  for (const bool v4 : {true, false}) {
    const Octets whole = tcp_frame(v4, kPayload);
    SuperFrame super;
    ASSERT_TRUE(super.start(whole, offload(v4, kSegment)));
    const std::size_t l4 = Ethernet::kOctets + (v4 ? Ipv4::kOctets : Ipv6::kOctets);
    EXPECT_EQ(super.longest(), l4 + kTcp + kSegment);
    Octets payload;
    for (unsigned i = 0; !super.done(); ++i) {
      Octets frame(super.longest());
      frame.resize(super.cut(frame.data()));
      const auto view = parse_frame(frame);  // lengths, and the IPv4 checksum
      ASSERT_TRUE(view.has_value());
      EXPECT_EQ(view->ip_octets, frame.size() - Ethernet::kOctets);
      const std::byte* const tcp = frame.data() + l4;
      EXPECT_EQ(transport_checksum(view->source, view->destination, ip_protocol::kTcp, std::span(frame).subspan(l4)),
                0);
      EXPECT_EQ(read<Tcp::SequenceNumber>(tcp), kSequenceNumber + i * kSegment);
      if (v4) {
        EXPECT_EQ(read<Ipv4::Identification>(frame.data() + Ethernet::kOctets), (0xFFFF + i) & 0xFFFF);
      }
      const unsigned flags = read<Tcp::Flags>(tcp);
      EXPECT_EQ(flags & kCwr, i == 0 ? kCwr : 0u) << "once is enough";
      EXPECT_EQ(flags & (kFin | kPsh), super.done() ? kFin | kPsh : 0u) << "the end is where the end is";
      EXPECT_NE(flags & kAck, 0u);
      payload.insert(payload.end(), frame.begin() + static_cast<std::ptrdiff_t>(l4 + kTcp), frame.end());
    }
    EXPECT_EQ(payload, Octets(whole.begin() + static_cast<std::ptrdiff_t>(l4 + kTcp), whole.end()));
  }
}

TEST(SuperFrame, WhatCannotBeCutIsRefused) {
  const Octets whole = tcp_frame(true, 4000);
  OffloadHeader in_a_tunnel = offload(true, 1448);
  in_a_tunnel.csum_start += 50;
  OffloadHeader of_another_kind = offload(true, 1448);
  of_another_kind.gso_type = 3;
  for (const OffloadHeader& o : {in_a_tunnel, of_another_kind, offload(true, 0)}) {
    SuperFrame super;
    EXPECT_FALSE(super.start(whole, o));
    EXPECT_TRUE(super.done());
  }
}

}  // namespace
}  // namespace railyard
