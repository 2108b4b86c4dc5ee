#include "dataplane/packet/trim.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/packet/edge.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;
using test::ip;
using test::octets_of;
using test::VlanTag;

class TrimTest : public ::testing::Test {
 protected:
  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  FecTable fecs{{test::prefix("10.0.1.0/24"), test::prefix("2001:db8:1::/64")}};

  Packet& frame(const FrameSpec& spec) { return *test::make_frame(pool, fecs, spec); }
};

TEST_F(TrimTest, CutsAnIpv4FrameAndLeavesTheUdpLengthAsItWas) {
  Packet& p = frame({.dscp = 26, .ecn = wire::Ecn::kCe, .frame_octets = 1024, .real = true});
  const std::vector<std::byte> before = octets_of(p);
  ASSERT_TRUE(trim(p, 128, 40));
  const std::vector<std::byte> after = octets_of(p);
  EXPECT_EQ(p.frame_octets, 132u) << "128 and the FCS";
  ASSERT_EQ(after.size(), 128u);
  const std::byte* const ip = after.data() + 14;
  EXPECT_EQ(wire::read<wire::Ipv4::TotalLength>(ip), 128 - 14);
  EXPECT_EQ(wire::internet_checksum({ip, 20}), 0) << "of the header with its checksum";
  EXPECT_EQ(wire::read<wire::Ipv4::DSCP>(ip), 40);
  EXPECT_EQ(wire::read<wire::Ipv4::ECN>(ip), 3) << "stays";
  EXPECT_EQ(p.traffic_class_octet, 40 << 2 | 3);
  EXPECT_EQ(wire::read<wire::Udp::Length>(ip + 20), 1024 - 4 - 14 - 20);
  EXPECT_TRUE(std::equal(before.begin() + 34, before.begin() + 128, after.begin() + 34)) << "UDP and all behind it";
  // Whoever parses it sees that it was cut, and nothing else is amiss.
  const auto view = wire::parse_frame(after);
  ASSERT_TRUE(view.has_value()) << name(view.error());
  EXPECT_TRUE(view->trimmed);
  EXPECT_TRUE(view->has_bth);
}

TEST_F(TrimTest, CutsATaggedIpv6Frame) {
  Packet& p = frame({.source = ip("2001:db8::1"), .destination = ip("2001:db8:1::1"), .tag = VlanTag{5, 3},
                     .frame_octets = 1024, .real = true});
  ASSERT_TRUE(trim(p, 128, 1));
  const auto octets = octets_of(p);
  ASSERT_EQ(octets.size(), 128u);
  EXPECT_EQ(wire::read<wire::Ipv6::PayloadLength>(octets.data() + 18), 128 - 18 - 40);
  const auto view = wire::parse_frame(octets);
  ASSERT_TRUE(view.has_value()) << name(view.error());
  EXPECT_TRUE(view->trimmed);
}

TEST_F(TrimTest, AnElidedPayloadBecomesShorterAndTheIcrcIsGone) {
  Packet& p = frame({.frame_octets = 4170});
  ASSERT_TRUE(p.has(Packet::kElided));
  p.flags |= Packet::kIcrcPending;
  const std::uint16_t headers = p.header_octets;
  ASSERT_TRUE(trim(p, 128, 40));
  EXPECT_EQ(p.header_octets, headers);
  EXPECT_EQ(p.payload_octets, 128u - headers);
  EXPECT_EQ(p.payload().octets, 128u - headers);
  EXPECT_FALSE(p.has(Packet::kIcrcPending));
  EXPECT_EQ(p.trimmed, 1);
}

TEST_F(TrimTest, AFrameThatIsNoLongerOnlyChangesItsDscp) {
  Packet& p = frame({.dscp = 26, .frame_octets = 132, .real = true});
  std::vector<std::byte> expected = octets_of(p);
  EXPECT_FALSE(trim(p, 128, 40));
  EXPECT_EQ(p.trimmed, 0);
  EXPECT_EQ(p.frame_octets, 132u);
  EXPECT_TRUE(p.has(Packet::kIcrcPending));
  EXPECT_EQ(octets_of(p).size(), 128u - 4);
  EXPECT_FALSE(wire::parse_frame(octets_of(p), 128).value().trimmed);
  EXPECT_EQ(p.traffic_class_octet >> 2, 40);
}

TEST_F(TrimTest, ACutThatFallsIntoTheIcrcLeavesNothingOfIt) {
  for (const std::uint32_t octets : {133u, 134u, 135u, 136u}) {
    Packet& p = frame({.frame_octets = octets, .real = true});
    ASSERT_TRUE(p.has(Packet::kIcrcPending));
    const std::uint32_t payload = p.payload_octets;
    EXPECT_TRUE(trim(p, 128, 40));
    EXPECT_EQ(p.payload_octets, payload) << octets;
    EXPECT_EQ(p.frame_octets, octets - 4);
    EXPECT_EQ(octets_of(p).size(), p.frame_octets - 4u);
    EXPECT_TRUE(wire::parse_frame(octets_of(p)).value().trimmed);
  }
}

TEST_F(TrimTest, WhatWasCutIsNeverCutAgain) {
  Packet& p = frame({.frame_octets = 1024, .real = true});
  ASSERT_TRUE(trim(p, 200, 40));
  EXPECT_FALSE(trim(p, 128, 41));
  EXPECT_EQ(octets_of(p).size(), 200u);
  // Nor after it has been outside, where its metadata is lost.
  Packet& again = *test::make_frame(pool, fecs, octets_of(p));
  EXPECT_EQ(again.trimmed, 1);
  EXPECT_FALSE(trim(again, 128, 41));
}

}  // namespace
}  // namespace railyard
