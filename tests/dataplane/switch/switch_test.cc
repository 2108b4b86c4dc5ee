// The way of one packet through a switch: reception, classification, forwarding, VLANs, rewriting.
#include "dataplane/switch/switch.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

// ---- Forwarding ----------------------------------------------------------------------------------------------------

TEST(SwitchForwarding, AFrameLeavesWithNewAddressesALowerTtlAndARightChecksum) {
  SwitchRig rig;
  rig.send(kIn, 0_ns, {.destination = host(kOut), .dscp = 26, .ttl = 64, .real = true});
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  Packet* original = rig.frame(kIn, {.destination = host(kOut), .dscp = 26, .ttl = 64, .real = true});
  std::vector<std::byte> expected = test::octets_of(*original);
  rig.wire.pool().release(original);
  wire::write<wire::Ethernet::Destination>(expected.data(), peer_of(kOut));
  wire::write<wire::Ethernet::Source>(expected.data(), mac_of(kOut));
  wire::write<wire::Ipv4::TTL>(expected.data() + 14, 63);
  wire::write<wire::Ipv4::HeaderChecksum>(expected.data() + 14, 0);
  wire::write<wire::Ipv4::HeaderChecksum>(expected.data() + 14, wire::internet_checksum({expected.data() + 14, 20}));
  EXPECT_EQ(sent[0].octets, expected) << "and nothing else has changed";
  EXPECT_EQ(sent[0].packet.frame_octets, 1024u);

  EXPECT_TRUE(rig.wire.sent(kIn).empty());
  EXPECT_TRUE(rig.wire.sent(port(2)).empty());
  EXPECT_EQ(rig.count(kIn, cls(3)).rx_packets, 1u);
  EXPECT_EQ(rig.count(kIn, cls(3)).rx_octets, 1024u);
  EXPECT_EQ(rig.count(kOut, cls(3)).tx_packets, 1u);
  EXPECT_EQ(rig.count(kOut, cls(3)).tx_octets, 1024u);
}

TEST(SwitchForwarding, Ipv6HasAHopLimitAndNoChecksum) {
  SwitchRig rig;
  rig.send(kIn, 0_ns, {.source = host6(kIn), .destination = host6(kOut), .ttl = 9});
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  const wire::FrameView view = sent[0].view();
  EXPECT_EQ(view.kind, FrameKind::kIpv6);
  EXPECT_EQ(view.ttl, 8);
  EXPECT_EQ(view.destination, host6(kOut));
  EXPECT_EQ(wire::read<wire::Ethernet::Destination>(sent[0].octets.data()), peer_of(kOut));
}

TEST(SwitchForwarding, TheChecksumIsRightForEveryTtl) {
  SwitchRig rig;
  for (unsigned ttl = 2; ttl < 256; ++ttl)
    rig.send(kIn, 1_us * static_cast<std::int64_t>(ttl),
             {.destination = host(kOut), .ttl = static_cast<std::uint8_t>(ttl)});
  rig.run(1_ms);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 254u);
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].view().ttl, i + 1);  // view() checks the checksum
}

TEST(SwitchForwarding, AFlowStaysInOrderAndEveryClassGetsThrough) {
  SwitchRig rig;
  for (std::uint32_t i = 0; i < 64; ++i)
    rig.send(kIn, 1_us * i, {.destination = host(kOut), .psn = i, .dscp = static_cast<std::uint8_t>(i % 8 * 8)});
  rig.run(1_ms);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 64u);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(sent[i].view().psn, i);
  for (std::uint8_t c = 0; c < 8; ++c) EXPECT_EQ(rig.count(kOut, cls(c)).tx_packets, 8u);
}

TEST(SwitchForwarding, ADestinationNobodyCoversIsDropped) {
  SwitchRig rig;
  rig.send(kIn, 0_ns, {.destination = test::ip("172.16.0.1")});
  rig.run(10_us);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kNoRoute), 1u);
}

TEST(SwitchForwarding, ThePrefixOfAnotherSwitchIsNoRouteHere) {
  SwitchConfig config = switch_config(2);
  config.routes.erase(config.routes.begin() + 2);  // 10.0.1.0/24; the fabric's table still has it
  SwitchRig rig(config);
  rig.send(kIn, 0_ns, {.destination = host(kOut)});
  rig.run(10_us);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kNoRoute), 1u);
}

TEST(SwitchForwarding, RoutesAreReplacedAtAnInstant) {
  SwitchRig rig;
  SwitchConfig config = switch_config(3);
  config.routes[2].ports = {port(2)};  // 10.0.1.0/24
  for (int i = 0; i < 4; ++i) rig.send(kIn, 1_us * i, {.destination = host(kOut)});
  // A frame of 1024 octets takes effect 82.56 + 600 ns after its start: two before the change, two at or after it.
  rig.sw.change_at(at(2_us + 682'560_ps), [&](Instant) { rig.sw.set_routes(config.fecs, config.routes); });
  rig.run(10_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 2u);
  EXPECT_EQ(rig.wire.sent(port(2)).size(), 2u);
}

TEST(SwitchForwarding, EqualPathsAreChosenByClass) {
  SwitchConfig config = switch_config(5);
  config.routes[2].ports = {port(1), port(2), port(3), port(4)};  // 10.0.1.0/24
  config.paths.by_class[4].policy = PathPolicy::kSpray;
  SwitchRig rig(config);
  for (std::int64_t i = 0; i < 40; ++i) {
    rig.send(kIn, 1_us * (2 * i), {.destination = host(kOut), .dscp = 26});      // class 3: hashed
    rig.send(kIn, 1_us * (2 * i + 1), {.destination = host(kOut), .dscp = 32});  // class 4: sprayed
  }
  rig.run(1_ms);
  unsigned hashed_ports = 0;
  for (std::uint16_t p = 1; p < 5; ++p) {
    EXPECT_EQ(rig.count(port(p), cls(4)).tx_packets, 10u);
    const std::uint64_t hashed = rig.count(port(p), cls(3)).tx_packets;
    EXPECT_TRUE(hashed == 0 || hashed == 40) << "one flow";
    hashed_ports += hashed > 0;
  }
  EXPECT_EQ(hashed_ports, 1u);
}

// ---- MAC reception -------------------------------------------------------------------------------------------------

TEST(SwitchReception, UnicastToAnotherMacIsNotForUs) {
  SwitchRig rig;
  rig.send(kIn, 0_ns, {.to = mac_of(kOut), .destination = host(kOut)});  // the port's own counts, not the switch's
  rig.send(kIn, 1_us, {.to = test::mac(0x99), .destination = host(kOut)});
  rig.run(10_us);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kNotForUs), 2u);
  EXPECT_TRUE(rig.wire.sent(kOut).empty());
}

TEST(SwitchReception, GiantsAreDropped) {
  SwitchConfig config = switch_config(2);
  config.ports[0].mtu = 1500;
  SwitchRig rig(config);
  // 1500 octets of IP, Ethernet, FCS, and a tag.
  rig.send(kIn, 0_ns, {.destination = host(kOut), .frame_octets = 1522});
  rig.send(kIn, 1_us, {.destination = host(kOut), .frame_octets = 1523});
  rig.run(10_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kGiant), 1u);
}

TEST(SwitchReception, AFrameWithABadFcsIsDroppedUnlessItIsCutThrough) {
  for (const ForwardingMode mode : {ForwardingMode::kStoreAndForward, ForwardingMode::kCutThrough}) {
    SwitchConfig config = switch_config(2);
    config.mode = mode;
    SwitchRig rig(config);
    Packet* p = rig.frame(kIn, {.destination = host(kOut)});
    p->flags |= Packet::kFcsBad;
    rig.wire.send(kIn, at(0_ns), p);
    rig.run(10_us);
    const auto sent = rig.wire.sent(kOut);
    if (mode == ForwardingMode::kStoreAndForward) {
      EXPECT_TRUE(sent.empty());
      EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kFcsError), 1u);
    } else {
      ASSERT_EQ(sent.size(), 1u);
      EXPECT_TRUE(sent[0].packet.has(Packet::kFcsBad)) << "the next MAC will see it";
    }
  }
}

// What is said to every node on the link ends here; no other multicast means anything to the switch.
TEST(SwitchReception, MulticastIsNotForwarded) {
  SwitchRig rig;
  const wire::MacAddress all_nodes{{1, 0, 0x5E, 0, 0, 1}};
  rig.send(kIn, 0_ns, {.to = all_nodes, .destination = test::ip("224.0.0.1")});
  rig.send(kIn, 1_us, {.to = all_nodes, .destination = test::ip("224.1.0.1")});
  rig.send(kIn, 2_us, {.to = {{0x33, 0x33, 0, 0, 0, 1}}, .source = host6(kIn), .destination = test::ip("ff02::1")});
  rig.send(kIn, 3_us, {.to = {{0x33, 0x33, 0, 0, 0, 1}}, .source = host6(kIn), .destination = test::ip("ff05::1")});
  rig.run(10_us);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kNotUnderstood), 2u);
  EXPECT_EQ(rig.sw.counters().consumed, 2u);
  for (const PortIndex p : {kIn, kOut, port(2)}) EXPECT_TRUE(rig.wire.sent(p).empty());
}

// ---- VLANs ---------------------------------------------------------------------------------------------------------

// Port 0: access in VLAN 10; 1: access in 10; 2: trunk, native 1, 10 and 20 tagged; 3: access in 20.
class SwitchVlan : public ::testing::Test {
 protected:
  static SwitchConfig config() {
    SwitchConfig c = switch_config(4);
    c.ports[0].vlans = c.ports[1].vlans = VlanMembership(10);
    c.ports[2].vlans.allow_tagged(10);
    c.ports[2].vlans.allow_tagged(20);
    c.ports[3].vlans = VlanMembership(20);
    return c;
  }
  Sent forwarded(PortIndex in, PortIndex out, FrameSpec spec) {
    spec.destination = host(out);
    rig.send(in, next_, spec);
    rig.run(next_ += 100_us);
    const auto sent = rig.wire.sent(out);
    EXPECT_EQ(sent.size(), 1u);
    if (sent.empty()) throw std::runtime_error("the frame was dropped");
    EXPECT_NO_THROW(sent[0].view()) << "a whole frame";
    return sent[0];
  }
  void expect_dropped(PortIndex in, PortIndex out, FrameSpec spec) {
    const std::uint64_t before = rig.drops(DropReason::kVlanNotMember);
    spec.destination = host(out);
    rig.send(in, next_, spec);
    rig.run(next_ += 100_us);
    EXPECT_TRUE(rig.wire.sent(out).empty());
    EXPECT_EQ(rig.drops(DropReason::kVlanNotMember), before + 1);
  }
  SwitchRig rig{config()};
  Duration next_{};
};

TEST_F(SwitchVlan, WithinAnAccessVlanFramesStayUntagged) {
  const Sent s = forwarded(port(0), port(1), {});
  EXPECT_FALSE(s.packet.has(Packet::kTagged));
  EXPECT_EQ(s.packet.frame_octets, 1024u);
}

TEST_F(SwitchVlan, ATrunkTags) {
  const Sent s = forwarded(port(0), port(2), {});
  EXPECT_TRUE(s.view().tagged);
  EXPECT_EQ(s.view().vid, 10);
  EXPECT_EQ(s.view().pcp, 0);
  EXPECT_EQ(s.packet.frame_octets, 1028u);
  EXPECT_EQ(rig.count(port(2), cls(3)).tx_octets, 1028u);
}

TEST_F(SwitchVlan, FramesCountAsTheyCameInAndAsTheyGoOut) {
  forwarded(port(0), port(2), {});
  EXPECT_EQ(rig.count(port(0), cls(3)).rx_octets, 1024u);
  EXPECT_EQ(rig.count(port(2), cls(3)).tx_octets, 1028u);
  forwarded(port(2), port(3), {.tag = VlanTag{.vid = 20}});
  EXPECT_EQ(rig.count(port(2), cls(3)).rx_octets, 1024u);
  EXPECT_EQ(rig.count(port(3), cls(3)).tx_octets, 1020u);
}

TEST_F(SwitchVlan, AnAccessPortTakesTheTagOut) {
  const Sent s = forwarded(port(2), port(3), {.tag = VlanTag{.vid = 20, .pcp = 5}});
  EXPECT_FALSE(s.view().tagged);
  EXPECT_EQ(s.packet.frame_octets, 1020u);
}

TEST_F(SwitchVlan, APriorityTagIsOfTheNativeVlan) {
  const Sent s = forwarded(port(0), port(1), {.tag = VlanTag{.vid = 0, .pcp = 5}});
  EXPECT_FALSE(s.view().tagged);
}

TEST_F(SwitchVlan, NobodyCrossesVlans) {
  expect_dropped(port(0), port(3), {});
  expect_dropped(port(2), port(3), {.tag = VlanTag{.vid = 10}});
  expect_dropped(port(2), port(1), {});  // native VLAN 1
}

TEST_F(SwitchVlan, ATagThePortIsNoMemberOfIsRefused) {
  expect_dropped(port(0), port(1), {.tag = VlanTag{.vid = 20}});
  expect_dropped(port(2), port(3), {.tag = VlanTag{.vid = 30}});
}

// 64 octets that lose their tag are padded again; 9238 that gain one are 9242.
TEST_F(SwitchVlan, LengthsStayLegal) {
  EXPECT_EQ(forwarded(port(2), port(3), {.tag = VlanTag{.vid = 20}, .frame_octets = 66}).packet.frame_octets, 64u);
  EXPECT_EQ(forwarded(port(0), port(2), {.frame_octets = 9234}).packet.frame_octets, 9238u);
}

// ---- Classes -------------------------------------------------------------------------------------------------------

// (Class, egress port) -> class: DSCP 26 (class 3) leaves in class 4 with the first DSCP of that class, 32.
TEST(SwitchClasses, ARemapMovesTheFrameAndItsCodePoint) {
  SwitchConfig config = switch_config(2);
  config.ports[kOut.index()].remap.to[3] = 4;
  SwitchRig rig(config);
  rig.send(kIn, 0_ns, {.destination = host(kOut), .dscp = 26, .ecn = wire::Ecn::kEct1});
  rig.send(kIn, 1_us, {.source = host6(kIn), .destination = host6(kOut), .dscp = 26, .ecn = wire::Ecn::kCe});
  rig.send(kIn, 2_us, {.destination = host(kOut), .dscp = 10});
  rig.send(kOut, 3_us, {.destination = host(kIn), .dscp = 26});  // the other way there is no remap
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].view().traffic_class_octet, 32 << 2 | 1) << "ECN stays";
  EXPECT_EQ(sent[0].packet.traffic_class_octet, 32 << 2 | 1);
  EXPECT_EQ(sent[1].view().traffic_class_octet, 32 << 2 | 3);
  EXPECT_EQ(sent[2].view().traffic_class_octet, 10 << 2 | 2) << "another class";
  EXPECT_EQ(rig.wire.sent(kIn).at(0).view().traffic_class_octet, 26 << 2 | 2);
  EXPECT_EQ(rig.count(kOut, cls(4)).tx_packets, 2u);
  EXPECT_EQ(rig.count(kOut, cls(3)).tx_packets, 0u);
  EXPECT_EQ(rig.count(kIn, cls(3)).rx_packets, 2u) << "PFC names the class in which they came";
}

TEST(SwitchClasses, WhereThePcpIsTrustedTheRemapChangesThePcp) {
  SwitchConfig config = switch_config(2);
  for (SwitchPortConfig& p : config.ports) {
    p.trust.trust = Trust::kPcp;
    p.vlans.allow_tagged(10);
  }
  config.ports[kOut.index()].remap.to[3] = 5;
  SwitchRig rig(config);
  rig.send(kIn, 0_ns, {.destination = host(kOut), .dscp = 26, .tag = VlanTag{.vid = 10, .pcp = 3}});
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].view().pcp, 5);
  EXPECT_EQ(sent[0].view().vid, 10);
  EXPECT_EQ(sent[0].view().traffic_class_octet, 26 << 2 | 2);
  EXPECT_EQ(rig.count(kOut, cls(5)).tx_packets, 1u);
}

// ---- Taps ----------------------------------------------------------------------------------------------------------

struct Seen {
  Instant at;
  TapNote::Event event;
  DropReason reason;
  std::uint8_t priority;
  std::int64_t depth;
  std::uint8_t ttl;
};
class Recorder final : public Tap {
 public:
  void see(Instant now, const Packet& p, const TapNote& note) override {
    const bool ip = is_ip(p.kind);
    seen.push_back({now, note.event, note.reason, note.priority.value, note.depth_octets,
                    ip ? std::to_integer<std::uint8_t>(p.l3()[8]) : std::uint8_t{0}});
  }
  std::vector<Seen> seen;
};

TEST(SwitchTap, SeesFramesAsTheyCameAndAsTheyLeave) {
  SwitchRig rig;
  Recorder in;
  Recorder out;
  rig.sw.tap(kIn, &in);
  rig.sw.tap(kOut, &out);
  // The second frame waits behind the first; the third has no route.
  rig.send(kIn, 0_ns, {.destination = host(kOut), .frame_octets = 1000});
  rig.send(port(2), 0_ns, {.destination = host(kOut), .frame_octets = 1000});
  rig.send(kIn, 1_us, {.destination = test::ip("172.16.0.1"), .frame_octets = 1000});
  rig.run(10_us);
  ASSERT_EQ(in.seen.size(), 3u);
  EXPECT_EQ(in.seen[0].event, TapNote::Event::kReceived);
  EXPECT_EQ(in.seen[0].at, at(680'640_ps));
  EXPECT_EQ(in.seen[0].ttl, 64) << "not yet rewritten";
  EXPECT_EQ(in.seen[0].priority, 3);
  EXPECT_EQ(in.seen[0].depth, -1);
  EXPECT_EQ(in.seen[2].event, TapNote::Event::kDropped);
  EXPECT_EQ(in.seen[2].reason, DropReason::kNoRoute);
  ASSERT_EQ(out.seen.size(), 2u);
  EXPECT_EQ(out.seen[0].event, TapNote::Event::kSent);
  EXPECT_EQ(out.seen[0].at, at(680'640_ps));
  EXPECT_EQ(out.seen[0].ttl, 63);
  EXPECT_EQ(out.seen[0].depth, 1000) << "the other frame is behind it";
  EXPECT_EQ(out.seen[1].at, at(680'640_ps + 81'600_ps));
  EXPECT_EQ(out.seen[1].depth, 0);
}

// ---- Configuration -------------------------------------------------------------------------------------------------

TEST(SwitchConfiguration, WhatCannotBeIsRefusedByName) {
  const auto refused = [](auto change) -> std::string {
    SwitchConfig config = switch_config(2);
    change(config);
    try {
      Switch sw(DeviceId{0}, "leaf7", config);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "not refused";
  };
  const auto expect = [](const std::string& error, const char* part) {
    EXPECT_EQ(error.find("switch leaf7: "), 0u) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect(refused([](SwitchConfig& c) { c.buffer.cell = {0}; }), "buffer.cell");
  expect(refused([](SwitchConfig& c) { c.buffer.size = {100}; }), "buffer.size");
  expect(refused([](SwitchConfig& c) { c.ports[1].classes[3].buffer.alpha = {9}; }), "port 1 class 3.alpha");
  expect(refused([](SwitchConfig& c) { c.ports[1].classes[3].ecn = {.enabled = true, .kmin = {2}, .kmax = {1}}; }),
         "port 1 class 3.ecn.kmin");
  expect(refused([](SwitchConfig& c) { c.ports[0].classes[0].buffer.reserved = c.buffer.size; }), "too small");
}

}  // namespace
}  // namespace railyard
