#include "dataplane/device/classify.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace railyard {
namespace {

Packet packet(FrameKind kind, std::uint8_t dscp, bool tagged = false, std::uint8_t pcp = 0) {
  Packet p{};
  p.kind = kind;
  p.traffic_class_octet = static_cast<std::uint8_t>(dscp << 2 | 3);
  p.pcp = pcp & 7;
  if (tagged) p.flags = Packet::kTagged;
  return p;
}

// roce-and-lossless.md §11.1: "NVIDIA style TC = DSCP >> 3 (26 -> 3, 48 -> 6)".
TEST(Classify, ByDefaultTheUpperBitsOfTheDscpDecideAndEcnDoesNot) {
  const TrustMap map;
  for (std::uint8_t dscp = 0; dscp < 64; ++dscp) {
    EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, dscp)).value, dscp / 8);
    EXPECT_EQ(classify(map, packet(FrameKind::kIpv6, dscp)).value, dscp / 8);
  }
  EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, 26)).value, 3);
  EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, 48)).value, 6);
}

TEST(Classify, ThePcpDoesNotCountWhereTheDscpIsTrusted) {
  EXPECT_EQ(classify(TrustMap{}, packet(FrameKind::kIpv4, 26, true, 7)).value, 3);
}

TEST(Classify, WithoutADscpTheDefaultClass) {
  TrustMap map;
  map.default_class = 5;
  EXPECT_EQ(classify(map, packet(FrameKind::kArp, 63)).value, 5);
  EXPECT_EQ(classify(map, packet(FrameKind::kArp, 63, true, 7)).value, 5);
}

// SONiC's data-centre map, which disagrees about DSCP 26.
TEST(Classify, AnotherMap) {
  TrustMap map;
  map.dscp_to_class.fill(1);
  map.dscp_to_class[3] = 3;
  map.dscp_to_class[4] = 4;
  map.dscp_to_class[8] = 0;
  EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, 26)).value, 1);
  EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, 3)).value, 3);
  EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, 8)).value, 0);
}

TEST(Classify, WhereThePcpIsTrustedUntaggedFramesGetTheDefault) {
  TrustMap map;
  map.trust = Trust::kPcp;
  map.default_class = 2;
  map.pcp_to_class[5] = 6;
  EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, 26, true, 5)).value, 6);
  EXPECT_EQ(classify(map, packet(FrameKind::kArp, 0, true, 7)).value, 7) << "any frame has one";
  EXPECT_EQ(classify(map, packet(FrameKind::kIpv4, 26, false, 5)).value, 2);
}

TEST(ClassRemap, IsTheIdentityUntilSomethingChanges) {
  ClassRemap remap;
  EXPECT_TRUE(remap.identity());
  remap.to[3] = 4;
  EXPECT_FALSE(remap.identity());
}

}  // namespace
}  // namespace railyard
