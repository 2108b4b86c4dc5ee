#include "dataplane/packet/edge.h"

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/arp.h"
#include "dataplane/wire/pfc.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;
using test::ip;
using test::mac;
using test::make_frame;
using test::prefix;
using test::VlanTag;

class Edge : public ::testing::Test {
 protected:
  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  FecTable fecs{{prefix("10.0.1.0/24"), prefix("2001:db8:1::/64")}};

  Packet describe_frame(const FrameSpec& spec) {
    Packet* p = make_frame(pool, fecs, spec);
    const Packet copy = *p;
    pool.release(p);
    return copy;
  }
};

TEST_F(Edge, WhatIsKeptOfARoceFrame) {
  const Packet p =
      describe_frame({.source_port = 0xC123, .destination_qp = 0x00ABCDEF, .dscp = 26, .frame_octets = 4158});
  EXPECT_EQ(p.kind, FrameKind::kIpv4);
  EXPECT_EQ(p.l3_offset, 14);
  EXPECT_EQ(p.header_octets, 14 + 20 + 8 + 12);
  EXPECT_EQ(p.payload_octets, 4158u - 54 - 4 - 4) << "without ICRC and FCS";
  EXPECT_EQ(p.traffic_class_octet, 26 << 2 | 2);
  EXPECT_EQ(p.transport_hash, 0xC12312B7u) << "source port and 4791";
  EXPECT_EQ(p.entropy, 0x00ABCDEFu);
  EXPECT_EQ(fecs.prefix(p.fec), prefix("10.0.1.0/24"));
  EXPECT_EQ(p.flags, Packet::kElided | Packet::kIcrcPending);
  EXPECT_EQ(p.vid, 0);
  EXPECT_EQ(p.pcp, 0);
}

TEST_F(Edge, AnEntropyValueIsToldFromAQueuePair) {
  wire::FrameView view;
  view.uet_entropy = 0x4242;
  Packet p{};
  describe(p, view, fecs);
  EXPECT_EQ(p.entropy, Packet::kUetEntropy | 0x4242);
}

TEST_F(Edge, WhatIsKeptOfATaggedIpv6Frame) {
  const Packet p = describe_frame({.source = ip("2001:db8::1"),
                                   .destination = ip("2001:db8:1::9"),
                                   .dscp = 48,
                                   .ecn = wire::Ecn::kNotEct,
                                   .tag = VlanTag{.vid = 100, .pcp = 6},
                                   .frame_octets = 200});
  EXPECT_EQ(p.kind, FrameKind::kIpv6);
  EXPECT_EQ(p.l3_offset, 18);
  EXPECT_EQ(p.header_octets, 18 + 40 + 8 + 12);
  EXPECT_EQ(p.traffic_class_octet, 48 << 2);
  EXPECT_EQ(fecs.prefix(p.fec), prefix("2001:db8:1::/64"));
  EXPECT_TRUE(p.has(Packet::kTagged));
  EXPECT_EQ(p.vid, 100);
  EXPECT_EQ(p.pcp, 6);
}

TEST_F(Edge, NoClassWithoutAPrefixOrWithoutAnIpHeader) {
  EXPECT_EQ(describe_frame({.destination = ip("10.0.2.1")}).fec, kNoFec);

  std::array<std::byte, 64> octets{};
  const std::size_t n = wire::write_arp_request(octets, {.destination = wire::kBroadcastMac, .source = mac(2)},
                                                ip("10.0.0.1"), ip("10.0.1.1"));
  Packet* arp = make_frame(pool, fecs, std::span(octets).first(n));
  EXPECT_EQ(arp->kind, FrameKind::kArp);
  EXPECT_EQ(arp->fec, kNoFec) << "the target is covered, but nothing is routed by it";
  EXPECT_EQ(arp->transport_hash, 0u);
  pool.release(arp);
}

TEST_F(Edge, MacControlIsSeen) {
  std::array<std::byte, wire::kMinFrameOctets> octets{};
  wire::write_pfc(octets, mac(2), {.enable = 1, .quanta = {5}});
  Packet* p = make_frame(pool, fecs, octets);
  EXPECT_EQ(p->kind, FrameKind::kMacControl);
  EXPECT_EQ(p->fec, kNoFec);
  pool.release(p);
}

TEST_F(Edge, TheAddressHashDependsOnSourceDestinationAndOrder) {
  std::set<std::uint32_t> hashes;
  for (const char* source : {"10.0.0.1", "10.0.0.2", "10.0.1.1", "2001:db8::1"})
    for (const char* destination : {"10.0.0.1", "10.0.1.1", "10.0.1.2", "2001:db8::1", "2001:db8::2"}) {
      if (ip(source).is_v4() != ip(destination).is_v4()) continue;
      hashes.insert(describe_frame({.source = ip(source), .destination = ip(destination)}).address_hash);
    }
  EXPECT_EQ(hashes.size(), 3u * 3 + 2) << "all different";
  EXPECT_EQ(describe_frame({.source_port = 1, .psn = 9}).address_hash, describe_frame({.source_port = 2}).address_hash);
}

TEST_F(Edge, WhatIsRememberedOfThePacketBeforeChangesNothing) {
  AddressMemo memo;
  // Each after each: equal addresses, one of them changed, another protocol, another version, not IP at all.
  std::vector<wire::FrameView> views(6);
  views[0] = {.source = ip("10.0.0.1"), .destination = ip("10.0.1.1"), .ip_octets = 100, .protocol = 17};
  views[1] = views[2] = views[3] = views[4] = views[0];
  views[1].source = ip("10.0.0.2");
  views[2].destination = ip("10.0.2.2");
  views[3].protocol = 6;
  views[4].kind = FrameKind::kArp;
  views[5] = {
      .source = ip("2001:db8::1"), .destination = ip("2001:db8:1::9"), .kind = FrameKind::kIpv6, .protocol = 17};
  for (const auto& first : views)
    for (const auto& second : views) {
      Packet ignored{};
      Packet with{};
      Packet without{};
      describe(ignored, first, fecs, memo);
      describe(with, second, fecs, memo);
      describe(without, second, fecs);
      EXPECT_EQ(with.fec, without.fec);
      EXPECT_EQ(with.address_hash, without.address_hash);
      EXPECT_EQ(with.kind, without.kind);
    }
}

TEST_F(Edge, DescribingAgainForgetsTheTagThatIsGone) {
  Packet* p = make_frame(pool, fecs, {.tag = VlanTag{.vid = 100, .pcp = 6}});
  Packet* untagged = make_frame(pool, fecs, FrameSpec{});
  p->flags |= Packet::kFcsBad;
  const auto view = wire::parse_frame(untagged->header_span(), 1020);
  describe(*p, *view, fecs);
  EXPECT_FALSE(p->has(Packet::kTagged));
  EXPECT_TRUE(p->has(Packet::kFcsBad)) << "not the headers' business";
  EXPECT_TRUE(p->has(Packet::kElided));
  EXPECT_EQ(p->vid, 0);
  EXPECT_EQ(p->pcp, 0);
  EXPECT_EQ(p->l3_offset, 14);
  pool.release(p);
  pool.release(untagged);
}

}  // namespace
}  // namespace railyard
