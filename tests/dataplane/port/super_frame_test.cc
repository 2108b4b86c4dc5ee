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
#include "tests/dataplane/port/tcp_frame.h"

namespace railyard {
namespace {

using namespace wire;

using test::kAck;
using test::kCwr;
using test::kFin;
using test::kPsh;
using test::kSequenceNumber;
using test::kTcp;
using test::Octets;
using test::offload;
using test::tcp_frame;

TEST(SuperFrame, OfTcpIsCutIntoTheSegmentsThatItsSenderMeans) {
  constexpr std::size_t kPayload = 10'000;
  constexpr std::uint16_t kSegment = 1448;
  for (const bool v4 : {true, false}) {
    const Octets whole = tcp_frame(v4, kPayload, kCwr | kAck | kPsh | kFin);
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
  const Octets whole = tcp_frame(true, 4000, kAck);
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
