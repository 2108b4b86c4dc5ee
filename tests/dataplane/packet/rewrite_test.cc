#include "dataplane/packet/rewrite.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/packet/edge.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/vlan.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;
using test::ip;
using test::make_frame;
using test::octets_of;
using test::VlanTag;

class Rewrite : public ::testing::Test {
 protected:
  PacketPools pools{1, {.elided_limit = 64, .real_limit = 64, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  FecTable fecs{{test::prefix("10.0.1.0/24"), test::prefix("2001:db8:1::/64")}};

  Packet* frame(FrameSpec spec) {
    spec.real = true;
    return make_frame(pool, fecs, spec);
  }
  static FrameSpec v6() {
    return {.source = ip("2001:db8::1"), .destination = ip("2001:db8:1::1"), .frame_octets = 1024};
  }
  // What describe() would say of the headers as they are now must be what the metadata says.
  void expect_metadata_agrees(const Packet& p) const {
    const auto view = wire::parse_frame(octets_of(p), p.frame_octets - wire::kFcsOctets);
    ASSERT_TRUE(view.has_value()) << name(view.error());
    EXPECT_EQ(p.kind, view->kind);
    EXPECT_EQ(p.l3_offset, view->l3_offset);
    EXPECT_EQ(p.header_octets, view->header_octets);
    EXPECT_EQ(p.has(Packet::kTagged), view->tagged);
    EXPECT_EQ(p.pcp, view->pcp);
    EXPECT_EQ(p.vid, view->vid);
    EXPECT_EQ(p.traffic_class_octet, view->traffic_class_octet);
    EXPECT_EQ(p.fec, fecs.lookup(view->destination));
  }
};

TEST_F(Rewrite, TrafficClassChangesTheOctetAndTheIpv4Checksum) {
  Packet* p = frame({.dscp = 26, .ecn = wire::Ecn::kEct0});
  std::vector<std::byte> expected = octets_of(*p);
  for (const std::uint8_t octet :
       {std::uint8_t{26 << 2 | 3}, std::uint8_t{0}, std::uint8_t{0xFF}, std::uint8_t{48 << 2}}) {
    set_traffic_class(*p, octet);
    wire::write<wire::Ipv4::TrafficClass>(expected.data() + 14, octet);
    wire::write<wire::Ipv4::HeaderChecksum>(expected.data() + 14, 0);
    wire::write<wire::Ipv4::HeaderChecksum>(expected.data() + 14, wire::internet_checksum({expected.data() + 14, 20}));
    EXPECT_EQ(octets_of(*p), expected) << "nothing else changes";
    expect_metadata_agrees(*p);
  }
  pool.release(p);
}

TEST_F(Rewrite, TrafficClassOfIpv6LeavesVersionAndFlowLabel) {
  Packet* p = frame(v6());
  wire::write<wire::Ipv6::FlowLabel>(p->l3(), 0xABCDE);
  std::vector<std::byte> expected = octets_of(*p);
  set_traffic_class(*p, 0x5B);
  wire::write<wire::Ipv6::TrafficClass>(expected.data() + 14, 0x5B);
  EXPECT_EQ(octets_of(*p), expected);
  EXPECT_EQ(wire::read<wire::Ipv6::FlowLabel>(p->l3()), 0xABCDEu);
  expect_metadata_agrees(*p);
  pool.release(p);
}

TEST_F(Rewrite, TrafficClassOfATaggedPacketIsBehindTheTag) {
  Packet* p = frame({.dscp = 8, .tag = VlanTag{.vid = 10, .pcp = 1}});
  set_traffic_class(*p, 46 << 2);
  expect_metadata_agrees(*p);
  EXPECT_EQ(wire::internet_checksum({p->l3(), 20}), 0);
  pool.release(p);
}

TEST_F(Rewrite, PushInsertsATagAndKeepsTheRestOfTheFrame) {
  for (const FrameSpec& spec : {FrameSpec{}, v6()}) {
    Packet* p = frame(spec);
    const std::vector<std::byte> before = octets_of(*p);
    push_vlan_tag(*p, 0x123);
    const std::vector<std::byte> after = octets_of(*p);
    ASSERT_EQ(after.size(), before.size() + 4);
    EXPECT_TRUE(std::equal(before.begin(), before.begin() + 12, after.begin())) << "both MAC addresses";
    EXPECT_EQ(std::vector(after.begin() + 12, after.begin() + 16),
              (std::vector{std::byte{0x81}, std::byte{0x00}, std::byte{0x01}, std::byte{0x23}}))
        << "PCP 0, DEI 0";
    EXPECT_TRUE(std::equal(before.begin() + 12, before.end(), after.begin() + 16)) << "EtherType and the rest";
    EXPECT_EQ(p->frame_octets, 1028u);
    EXPECT_EQ(p->payload_octets + p->header_octets, before.size() + 4);
    expect_metadata_agrees(*p);
    pool.release(p);
  }
}

TEST_F(Rewrite, PushOnATaggedFrameGivesItAnotherVidAndKeepsThePriority) {
  Packet* p = frame({.tag = VlanTag{.vid = 10, .pcp = 5}});
  std::vector<std::byte> expected = octets_of(*p);
  push_vlan_tag(*p, 0xABC);
  wire::write<wire::Vlan::VID>(expected.data() + 14, 0xABC);
  EXPECT_EQ(octets_of(*p), expected);
  EXPECT_EQ(p->vid, 0xABC);
  EXPECT_EQ(p->pcp, 5);
  EXPECT_EQ(p->frame_octets, 1024u);
  expect_metadata_agrees(*p);
  pool.release(p);
}

TEST_F(Rewrite, PopUndoesPush) {
  Packet* p = frame({});
  const std::vector<std::byte> before = octets_of(*p);
  for (int i = 0; i < 10; ++i) {  // again and again: the room in front is not used up
    push_vlan_tag(*p, 7);
    set_pcp(*p, 6);
    pop_vlan_tag(*p);
    ASSERT_EQ(octets_of(*p), before);
  }
  EXPECT_EQ(p->frame_octets, 1024u);
  expect_metadata_agrees(*p);
  pool.release(p);
}

TEST_F(Rewrite, PopTakesTheTagOutOfAFrameThatCameWithOne) {
  Packet* tagged = frame({.tag = VlanTag{.vid = 10, .pcp = 5}, .frame_octets = 1028});
  Packet* untagged = frame({.frame_octets = 1024});
  pop_vlan_tag(*tagged);
  EXPECT_EQ(octets_of(*tagged), octets_of(*untagged));
  EXPECT_EQ(tagged->frame_octets, 1024u);
  expect_metadata_agrees(*tagged);
  pool.release(tagged);
  pool.release(untagged);
}

TEST_F(Rewrite, PopLeavesAnUntaggedFrameAlone) {
  Packet* p = frame({});
  const std::vector<std::byte> before = octets_of(*p);
  pop_vlan_tag(*p);
  EXPECT_EQ(octets_of(*p), before);
  EXPECT_EQ(p->frame_octets, 1024u);
  pool.release(p);
}

TEST_F(Rewrite, NoFrameIsShorterThanEthernetAllows) {
  // 66 octets with the tag are 62 without: the MAC pads to 64.
  Packet* p = frame({.tag = VlanTag{.vid = 10, .pcp = 5}, .frame_octets = 66});
  pop_vlan_tag(*p);
  EXPECT_EQ(p->frame_octets, kLeastFrameOctets);
  expect_metadata_agrees(*p);
  pool.release(p);
}

TEST_F(Rewrite, PcpChangesThreeBits) {
  Packet* p = frame({.tag = VlanTag{.vid = 0xFFF, .pcp = 7}});
  set_pcp(*p, 2);
  EXPECT_EQ(p->header()[14], std::byte{0x4F});
  EXPECT_EQ(p->header()[15], std::byte{0xFF});
  expect_metadata_agrees(*p);
  pool.release(p);
}

}  // namespace
}  // namespace railyard
