// Ports at one end of a veth pair, with a host at the other: each in a namespace of its own.
#include "dataplane/port/packet_socket_port.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "tests/dataplane/port/outside_port_fixture.h"
#include "tests/dataplane/port/without_capabilities.h"

namespace railyard {
namespace {

using test::HostNamespace;
using test::HostSocket;
using test::VlanTag;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class PacketSocketPortTest : public test::OutsidePortFixture {
 protected:
  void SetUp() override {
    OutsidePortFixture::SetUp();
    if (IsSkipped()) return;
    ours.emplace();
    ours->keep_quiet();
    make_veth();
  }

  void make_veth() const {
    ASSERT_TRUE(ours->ip("link add ry1 mtu 9000 type veth peer name eth0 mtu 9000 netns " + host->name()));
    ASSERT_TRUE(ours->ip("link set ry1 up") && host->ip("link set eth0 up"));
  }
  PacketSocketPortConfig config() const { return {.interface = "ry1", .netns = ours->name(), .mtu = 9000}; }

  std::optional<HostNamespace> ours;
};

TEST_F(PacketSocketPortTest, FramesOfAnyLengthPassBothWaysOctetForOctet) {
  PacketSocketPort port(config(), pool);
  expect_whole_frames(port, "port/netdev/" + ours->name() + "/ry1");
}

TEST_F(PacketSocketPortTest, BurstsKeepTheirOrder) {
  PacketSocketPort port(config(), pool);
  const HostSocket eth0(*host, "eth0");
  std::vector<Packet*> given;
  for (std::uint32_t i = 0; i < 100; ++i) given.push_back(frame({.psn = i, .frame_octets = 200}));
  for (std::size_t at = 0; at < given.size();) at += port.give(pool, std::span(given).subspan(at));
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(eth0.receive(), octets({.psn = i, .frame_octets = 200}));
  for (std::uint32_t i = 0; i < 100; ++i) ASSERT_TRUE(eth0.send(octets({.psn = i, .frame_octets = 200})));
  const std::vector<Packet*> taken = take(port);
  ASSERT_EQ(taken.size(), 100u);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(octets_of(*taken[i]), octets({.psn = i, .frame_octets = 200}));
  release(taken);
}

// The kernel keeps the tag of a frame that it receives apart.
TEST_F(PacketSocketPortTest, TagsStay) {
  PacketSocketPort port(config(), pool);
  expect_tags_stay(port);
}

// What the kernel itself sends through the interface is not for the fabric, and what the port sends does not come back.
TEST_F(PacketSocketPortTest, WhatGoesOutIsNotTakenForWhatComesIn) {
  PacketSocketPort port(config(), pool);
  const HostSocket kernel(*ours, "ry1");
  const HostSocket eth0(*host, "eth0");
  ASSERT_TRUE(kernel.send(octets({.psn = 1})));
  ASSERT_TRUE(give(port, {.psn = 2}));
  ASSERT_TRUE(eth0.receive() && eth0.receive());
  EXPECT_TRUE(take(port).empty());
}

// A veth lets its host leave checksums to whoever takes the frame.
TEST_F(PacketSocketPortTest, ChecksumsThatAreLeftToTheNicAreCompleted) {
  PacketSocketPort port(config(), pool);
  give_addresses();
  expect_whole_checksums(port);
}

TEST_F(PacketSocketPortTest, AndInTaggedFrames) {
  PacketSocketPort port(config(), pool);
  Octets sent = octets({.tag = VlanTag{.vid = 9, .pcp = 5}, .frame_octets = 301});
  const auto view = wire::parse_frame(sent);
  ASSERT_TRUE(view && view->tagged && view->protocol == wire::ip_protocol::kUdp);
  const std::uint32_t datagram = view->l3_offset + view->ip_octets - view->l4_offset;
  const auto sum = wire::pseudo_header(view->source, view->destination, view->protocol, datagram).value();
  wire::write<wire::Udp::Checksum>(sent.data() + view->l4_offset, static_cast<std::uint16_t>(~sum));
  HostSocket(*host, "eth0")
      .send(sent, {.flags = OffloadHeader::kNeedsChecksum,
                   .gso_type = OffloadHeader::kNoGso,
                   .hdr_len = 0,
                   .gso_size = 0,
                   .csum_start = view->l4_offset,
                   .csum_offset = 6});
  const std::vector<Octets> frames = take_of(port, wire::ip_protocol::kUdp);
  ASSERT_EQ(frames.size(), 1u);
  expect_right_checksum(frames[0]);
  const std::byte* const completed = frames[0].data() + view->l4_offset;
  wire::write<wire::Udp::Checksum>(sent.data() + view->l4_offset, wire::read<wire::Udp::Checksum>(completed));
  EXPECT_EQ(frames[0], sent) << "and the rest is as it was";
}

// A veth lets its host leave segmentation to whoever takes the frame, too: 60 KB in one.
TEST_F(PacketSocketPortTest, SegmentationThatIsLeftToTheNicIsDone) {
  PacketSocketPort port(config(), pool);
  give_addresses();
  expect_segmentation(port);
}

TEST_F(PacketSocketPortTest, SegmentsOfTcpThatLeaveTogetherArriveInOnePiece) {
  PacketSocketPort port(config(), pool);
  expect_joined_segments(port);
}

TEST_F(PacketSocketPortTest, AGiantKeepsItsLengthAndItsFirstOctets) {
  ASSERT_TRUE(ours->ip("link set ry1 mtu 40000") && host->ip("link set eth0 mtu 40000"));
  PacketSocketPortConfig short_link = config();
  short_link.mtu = 1500;
  PacketSocketPort port(short_link, pool);
  const HostSocket eth0(*host, "eth0");
  // Longer than a slot of the ring; and than a packet.
  for (const std::size_t length : {5000uz, 30'000uz}) {
    Octets giant = octets({.frame_octets = 5000});
    giant.resize(length, std::byte{7});
    ASSERT_TRUE(eth0.send(giant));
    const std::vector<Packet*> taken = take(port);
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken[0]->frame_octets, length + 4) << "by which the NIC drops it";
    const std::size_t kept = std::min(length, pool.real_octets());
    EXPECT_TRUE(std::equal(giant.begin(), giant.begin() + static_cast<std::ptrdiff_t>(kept), taken[0]->header()));
    release(taken);
  }
  ASSERT_TRUE(eth0.send(octets({.frame_octets = 600})));
  EXPECT_EQ(release(take(port)), 1u) << "and it goes on";
}

TEST_F(PacketSocketPortTest, WhatTheRingHasNoRoomForIsCountedAndTheBooksBalance) {
  PacketSocketPortConfig small = config();
  small.ring_octets = 256 << 10;
  PacketSocketPort port(small, pool);
  const HostSocket eth0(*host, "eth0");
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 500; ++i, ++sent) ASSERT_TRUE(eth0.send(octets({.frame_octets = 1000})));
    EXPECT_EQ(port.counters().host_ring_full + taken + 28, sent) << "28 slots of 9120 octets";
    taken += release(take(port));
  }
  const OutsidePortCounters c = port.counters();
  EXPECT_EQ(c.received, taken);
  EXPECT_EQ(taken, 3 * 28u);
  EXPECT_EQ(c.received + c.host_ring_full, sent);
  EXPECT_EQ(port.counters().host_ring_full, c.host_ring_full) << "looking does not change it";
}

// Without packet memory frames wait in the ring.
TEST_F(PacketSocketPortTest, WhatThereIsNoMemoryForStaysInTheRing) {
  PacketSocketPort port(config(), few());
  expect_to_wait_for_memory(port);
}

TEST_F(PacketSocketPortTest, AWayOutThatIsFullHoldsPacketsBackWithoutLossAndInOrder) {
  PacketSocketPort port(config(), pool);
  const HostSocket eth0(*host, "eth0");
  const std::string qdisc = " dev ry1 root handle 1: tbf burst 20000 limit 30000 rate ";
  if (!ours->run("tc qdisc add" + qdisc + "8bit")) GTEST_SKIP() << "needs tc and the kernel's sch_tbf";
  std::uint32_t next = 0;
  while (give(port, {.psn = next, .frame_octets = 1000})) ++next;
  EXPECT_FALSE(give(port, {.psn = next, .frame_octets = 1000}));
  EXPECT_LT(port.counters().sent, next) << "one waits in the port";
  EXPECT_EQ(port.counters().not_sent, 0u);
  ASSERT_TRUE(ours->run("tc qdisc change" + qdisc + "10gbit"));
  // The queue is looked at again with the next packet.
  while (!give(port, {.psn = next, .frame_octets = 1000})) take(port);
  ++next;
  for (std::uint32_t i = 0; i < next; ++i) {
    ASSERT_EQ(eth0.receive(), octets({.psn = i, .frame_octets = 1000})) << i << " of " << next;
  }
  EXPECT_FALSE(eth0.has_frame());
  EXPECT_EQ(port.counters().sent, next);
}

TEST_F(PacketSocketPortTest, AFrameThatTheInterfaceRefusesForGoodIsCountedAndHoldsUpNothing) {
  PacketSocketPort port(config(), pool);
  const HostSocket eth0(*host, "eth0");
  std::vector<Packet*> given{frame({.psn = 1}), frame({.psn = 2, .frame_octets = 9400}), frame({.psn = 3})};
  EXPECT_EQ(port.give(pool, given), 3u);
  EXPECT_EQ(eth0.receive(), octets({.psn = 1}));
  EXPECT_EQ(eth0.receive(), octets({.psn = 3}));
  EXPECT_EQ(port.counters().sent, 2u);
  EXPECT_EQ(port.counters().not_sent, 1u);
}

TEST_F(PacketSocketPortTest, AnInterfaceMayGoDownAndComeUpAgain) {
  PacketSocketPort port(config(), pool);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(ours->ip("link set ry1 down"));
    EXPECT_FALSE(port.link_up());
    EXPECT_TRUE(take(port).empty());
    EXPECT_TRUE(give(port, {.psn = 1})) << "it waits in the port";
    EXPECT_FALSE(give(port, {.psn = 2}));
    ASSERT_TRUE(ours->ip("link set ry1 up"));
    EXPECT_TRUE(port.link_up());
    const HostSocket eth0(*host, "eth0");
    EXPECT_TRUE(take(port).empty());
    EXPECT_EQ(eth0.receive(), octets({.psn = 1}));
    ASSERT_TRUE(eth0.send(octets({.psn = 3})));
    EXPECT_EQ(release(take(port)), 1u);
  }
  EXPECT_EQ(port.counters().not_sent, 0u);
  ASSERT_TRUE(host->ip("link set eth0 down"));
  EXPECT_FALSE(port.link_up()) << "no carrier";
}

// As a host sees that its cable ends in a port that is down; and frames pass again afterwards.
TEST_F(PacketSocketPortTest, TheCarrierIsSeenByTheHostWhereTheInterfaceIsOurs) {
  const auto host_has_carrier = [&](bool wanted) {
    return host->run(std::string("sh -c 'ip link show eth0 | grep -q ") + (wanted ? "LOWER_UP" : "NO-CARRIER") + "'");
  };
  PacketSocketPortConfig c = config();
  c.ours = true;
  PacketSocketPort port(c, pool);
  port.set_carrier(false);
  EXPECT_TRUE(host_has_carrier(false));
  EXPECT_FALSE(port.link_up());
  port.set_carrier(true);
  EXPECT_TRUE(host_has_carrier(true));
  expect_whole_frames(port, "port/netdev/" + ours->name() + "/ry1");
}

TEST_F(PacketSocketPortTest, AnotherUsersInterfaceIsLeftAsItIs) {
  PacketSocketPort port(config(), pool);
  port.set_carrier(false);
  EXPECT_TRUE(port.link_up());
}

TEST_F(PacketSocketPortTest, AnInterfaceMayGoAwayAndComeBack) {
  PacketSocketPort port(config(), pool);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(ours->ip("link del ry1"));
    EXPECT_FALSE(port.link_up());
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(take(port).empty());
    EXPECT_TRUE(give(port, {.psn = 1})) << "it waits in the port";
    EXPECT_FALSE(give(port, {.psn = 2}));
    make_veth();
    EXPECT_TRUE(port.link_up());
    const HostSocket eth0(*host, "eth0");
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(take(port).empty());
    EXPECT_EQ(eth0.receive(), octets({.psn = 1}));
    ASSERT_TRUE(eth0.send(octets({.psn = 3})));
    EXPECT_EQ(release(take(port)), 1u);
    ASSERT_TRUE(give(port, {.psn = 4}));
    EXPECT_EQ(eth0.receive(), octets({.psn = 4}));
  }
  EXPECT_EQ(port.counters().not_sent, 0u);
}

TEST_F(PacketSocketPortTest, WhatCannotBeIsNamedWithWhatWouldHelp) {
  const auto refused = [&](const PacketSocketPortConfig& c, const auto& message) {
    EXPECT_THAT([&] { PacketSocketPort(c, pool); }, ThrowsMessage<std::runtime_error>(message));
  };
  refused(
      {.interface = "nonesuch", .netns = ours->name()},
      AllOf(HasSubstr("interface 'nonesuch'"), HasSubstr(ours->name()), HasSubstr("ip link add nonesuch type veth")));
  refused({.interface = "ry1", .netns = "railyard-nonesuch"}, HasSubstr("ip netns add railyard-nonesuch"));
  refused({.interface = "a-name-of-16-let", .netns = ours->name()}, HasSubstr("16 characters; expected at most 15"));
  refused({.interface = "", .netns = ours->name()}, HasSubstr("needs a name"));
  refused({.interface = "lo", .netns = ours->name()}, HasSubstr("not an Ethernet interface"));
  refused({.interface = "ry1", .netns = ours->name(), .mtu = 9216},
          AllOf(HasSubstr("MTU is 9000, but the link's is 9216"), HasSubstr("ip link set ry1 mtu 9216"),
                HasSubstr("mtu: 9000")));
  test::without_capabilities([&] { refused({.interface = "ry1"}, HasSubstr("CAP_NET_RAW")); });
  PacketSocketPort port(config(), pool);
  EXPECT_TRUE(port.link_up()) << "nothing of what failed is in the way";
}

}  // namespace
}  // namespace railyard
