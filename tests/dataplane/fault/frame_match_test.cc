#include "dataplane/fault/frame_match.h"

#include <gtest/gtest.h>

#include "dataplane/packet/fec_table.h"
#include "dataplane/packet/pool.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/udp.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;
using wire::HeaderLayer;

class FrameMatchTest : public testing::Test {
 protected:
  bool matches(const FrameMatch& match, const FrameSpec& spec) {
    Packet* p = test::make_frame(pools_[WorkerId{0}], fecs_, spec);
    const bool found = match.matches(*p);
    pools_[WorkerId{0}].release(p);
    return found;
  }
  // That `name` of a header is `value`.
  static FrameMatch field(std::string_view name, std::uint64_t value) {
    const wire::HeaderField* f = wire::header_field(name);
    if (f == nullptr) throw std::logic_error("no such field");
    std::vector one{wire::number_test(f->layer, f->first_bit, f->width, value)};
    if (f->v6_width != 0) one.push_back(wire::number_test(HeaderLayer::kIpv6, f->v6_first_bit, f->v6_width, value));
    FrameMatch match;
    match.add(std::move(one));
    return match;
  }

  PacketPools pools_{1, {.elided_limit = 1u << 10, .real_limit = 1u << 8, .real_octets = 9728}};
  FecTable fecs_;
};

TEST_F(FrameMatchTest, NothingSaidIsEverything) {
  EXPECT_TRUE(FrameMatch{}.everything());
  EXPECT_TRUE(matches({}, {}));
}

TEST_F(FrameMatchTest, FieldsOfEveryHeaderOfARoceFrame) {
  const FrameSpec spec{.destination_qp = 0xABCDEF, .psn = 0x123456, .dscp = 26, .ttl = 9};
  for (const auto& [name, value] : {std::pair<std::string_view, std::uint64_t>{"eth.type", 0x0800},
                                    {"ip.version", 4},
                                    {"ip.dscp", 26},
                                    {"ip.ecn", 2},
                                    {"ip.ttl", 9},
                                    {"ip.proto", 17},
                                    {"udp.sport", 0xC000},
                                    {"udp.dport", 4791},
                                    {"bth.opcode", 0x24},
                                    {"bth.dest_qp", 0xABCDEF},
                                    {"bth.psn", 0x123456}}) {
    EXPECT_TRUE(matches(field(name, value), spec)) << name;
    EXPECT_FALSE(matches(field(name, value ^ 1), spec)) << name;
  }
  for (const std::string_view name : {"vlan.id", "tcp.sport", "uet.psn"}) EXPECT_FALSE(matches(field(name, 0), spec));
}

// Ports and queue pairs are asked of what is known of a packet; the others, and parts of them, of its octets.
TEST_F(FrameMatchTest, WhatIsKnownOfAPacketIsAskedFirst) {
  FrameMatch match = field("udp.dport", 4791);
  EXPECT_EQ(match.ports.mask, 0xFFFFu);
  EXPECT_EQ(match.ports.value, 4791u);
  match.add({wire::number_test(HeaderLayer::kUdp, 0, 16, 0xC000)});
  EXPECT_EQ(match.ports.value, 0xC000'12B7u);
  match.add({wire::number_test(HeaderLayer::kBth, 40, 24, 0xABCDEF)});
  EXPECT_EQ(match.entropy.mask, 0xFF'FFFFu);
  EXPECT_EQ(match.entropy.value, 0xABCDEFu);
  EXPECT_TRUE(matches(match, {.source_port = 0xC000, .destination_qp = 0xABCDEF}));
  EXPECT_FALSE(matches(match, {.source_port = 0xC001, .destination_qp = 0xABCDEF}));
  EXPECT_FALSE(matches(match, {.source_port = 0xC000, .destination_qp = 0xABCDEE}));
  for (const std::string_view other : {"bth.psn", "bth.opcode", "ip.dscp", "eth.type"}) {
    EXPECT_EQ(field(other, 1).ports.mask, 0u) << other;
    EXPECT_EQ(field(other, 1).entropy.mask, 0u) << other;
  }
}

TEST_F(FrameMatchTest, TheSameInIpv6AndBehindATag) {
  const FrameSpec six{.source = test::ip("fd00::1"),
                      .destination = test::ip("fd00::2"),
                      .psn = 77,
                      .dscp = 34,
                      .tag = test::VlanTag{.vid = 300, .pcp = 5}};
  EXPECT_TRUE(matches(field("ip.dscp", 34), six));
  EXPECT_TRUE(matches(field("ip.version", 6), six));
  EXPECT_TRUE(matches(field("bth.psn", 77), six));
  EXPECT_TRUE(matches(field("vlan.id", 300), six));
  EXPECT_TRUE(matches(field("vlan.pcp", 5), six));
  EXPECT_FALSE(matches(field("ip.dscp", 26), six));
}

TEST_F(FrameMatchTest, PrefixesOfAddresses) {
  const auto in = [](std::initializer_list<int> octets, std::size_t bits) {
    std::vector<std::byte> v;
    for (const int o : octets) v.push_back(static_cast<std::byte>(o));
    return FrameMatch{.all_of = {{wire::prefix_test(HeaderLayer::kIpv4, 12, v, bits)}}};
  };
  EXPECT_TRUE(matches(in({10, 0, 0, 1}, 32), {}));
  EXPECT_FALSE(matches(in({10, 0, 0, 2}, 32), {}));
  EXPECT_TRUE(matches(in({10, 0, 0, 2}, 30), {}));
  EXPECT_TRUE(matches(in({10, 77, 0, 0}, 8), {}));
  EXPECT_TRUE(matches(in({192, 0, 0, 0}, 0), {}));
}

TEST_F(FrameMatchTest, SizeFlowAndCodePoints) {
  EXPECT_TRUE(matches({.least_octets = 1024, .most_octets = 1024}, {.frame_octets = 1024}));
  EXPECT_FALSE(matches({.least_octets = 1025}, {.frame_octets = 1024}));
  EXPECT_FALSE(matches({.most_octets = 1023}, {.frame_octets = 1024}));
  EXPECT_TRUE(matches({.stream = 5}, {.stream = 5}));
  EXPECT_FALSE(matches({.stream = 5}, {.stream = 6}));
  EXPECT_TRUE(matches({.dscps = 1ull << 26}, {.dscp = 26}));
  EXPECT_FALSE(matches({.dscps = ~(1ull << 26)}, {.dscp = 26}));
  EXPECT_TRUE(matches({.pcps = 1u << 5}, {.tag = test::VlanTag{.pcp = 5}}));
  EXPECT_FALSE(matches({.pcps = 1u << 5}, {}));
}

// UE-Spec 1.0 §3.5.10, §3.4.2: a RUD request with a standard SES header; behind UDP, and behind the entropy header.
TEST_F(FrameMatchTest, FieldsOfAUetPacket) {
  const std::vector<int> request{0x11, 0x88, 0x00, 0x01, 0x81, 0x02, 0x03, 0x04, 0x05, 0x06,
                                 0x07, 0x08, 0x01, 0x00, 0x09, 0x0A};
  for (const bool udp : {true, false}) {
    const std::size_t l4 = 14 + 20;
    const std::size_t pds = l4 + (udp ? 8u : 4u);
    std::vector<std::byte> frame(pds);
    for (const int octet : request) frame.push_back(static_cast<std::byte>(octet));
    wire::FrameView view;
    view.kind = wire::FrameKind::kIpv4;
    view.l3_offset = 14;
    view.l4_offset = static_cast<std::uint16_t>(l4);
    view.header_octets = static_cast<std::uint16_t>(pds);
    view.protocol = udp ? wire::ip_protocol::kUdp : wire::ip_protocol::kUetNative;
    view.destination_port = udp ? wire::kUetPort : std::uint16_t{0};
    view.uet_entropy = 0x1234;
    for (const auto& [name, value] : {std::pair<std::string_view, std::uint64_t>{"uet.type", 2},
                                      {"uet.next_hdr", 3},
                                      {"uet.flags", 0x08},
                                      {"uet.psn", 0x81020304},
                                      {"uet.spdcid", 0x0506},
                                      {"uet.dpdcid", 0x0708},
                                      {"uet.opcode", 1},
                                      {"uet.message_id", 0x090A}}) {
      const wire::HeaderField* f = wire::header_field(name);
      ASSERT_NE(f, nullptr) << name;
      const auto holds = [&](std::uint64_t v) {
        return wire::number_test(f->layer, f->first_bit, f->width, v).holds(frame, view);
      };
      EXPECT_TRUE(holds(value)) << name << (udp ? " over UDP" : "");
      for (std::size_t bit = 0; bit < f->width; ++bit)
        EXPECT_FALSE(holds(value ^ std::uint64_t{1} << bit)) << name << " bit " << bit;
    }
  }
}

// A test beyond the octets that are there does not look at what is not.
TEST_F(FrameMatchTest, AFieldBehindTheEndIsNotThere) {
  const std::vector<std::byte> udp_of_uet = [] {
    const FrameSpec spec{.frame_octets = 100, .real = true};
    PacketPools pools(1, {.elided_limit = 64, .real_limit = 64, .real_octets = 2048});
    FecTable fecs;
    Packet* p = test::make_frame(pools[WorkerId{0}], fecs, spec);
    auto octets = test::octets_of(*p);
    pools[WorkerId{0}].release(p);
    octets.resize(14 + 20 + 8 + 4);
    octets[16] = std::byte{0};
    octets[17] = std::byte{20 + 8 + 4};  // IP total length
    octets[38] = std::byte{0};
    octets[39] = std::byte{8 + 4};      // UDP length
    octets[36] = std::byte{4793 >> 8};  // destination port
    octets[37] = std::byte{4793 & 0xFF};
    return octets;
  }();
  wire::FrameView view;
  view.kind = wire::FrameKind::kIpv4;
  view.l3_offset = 14;
  view.l4_offset = 34;
  view.protocol = 17;
  view.destination_port = 4793;
  view.uet_entropy = 0x1234;
  const auto test = [&](std::string_view name, std::uint64_t value) {
    const wire::HeaderField* f = wire::header_field(name);
    return wire::number_test(f->layer, f->first_bit, f->width, value).holds(udp_of_uet, view);
  };
  const auto word =
      std::to_integer<std::uint64_t>(udp_of_uet[42]) << 8 | std::to_integer<std::uint64_t>(udp_of_uet[43]);
  EXPECT_TRUE(test("uet.type", word >> 11));
  EXPECT_TRUE(test("uet.next_hdr", word >> 7 & 0xF));
  EXPECT_TRUE(test("uet.flags", word & 0x7F));
  EXPECT_FALSE(test("uet.psn", 0));
}

}  // namespace
}  // namespace railyard
