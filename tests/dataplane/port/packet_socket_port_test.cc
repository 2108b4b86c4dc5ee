// Ports at one end of a veth pair, with a host at the other: each in a namespace of its own.
#include "dataplane/port/packet_socket_port.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include "dataplane/base/hash.h"
#include "dataplane/packet/assemble.h"
#include "dataplane/port/network_namespace.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/parse.h"
#include "dataplane/wire/udp.h"
#include "tests/dataplane/port/host_namespace.h"
#include "tests/dataplane/port/without_capabilities.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::FrameSpec;
using test::HostNamespace;
using test::HostSocket;
using test::VlanTag;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Octets = std::vector<std::byte>;

class PacketSocketPortTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::why_no_namespaces()) GTEST_SKIP() << *why;
    ours.emplace();
    host.emplace();
    ours->keep_quiet();
    host->keep_quiet();
    make_veth();
  }
  ~PacketSocketPortTest() override { EXPECT_EQ(pools.in_use(), 0u) << "a packet was lost, or given back twice"; }

  void make_veth() const {
    ASSERT_TRUE(ours->ip("link add ry1 mtu 9000 type veth peer name eth0 mtu 9000 netns " + host->name()));
    ASSERT_TRUE(ours->ip("link set ry1 up") && host->ip("link set eth0 up"));
  }
  PacketSocketPortConfig config() const { return {.interface = "ry1", .netns = ours->name(), .mtu = 9000}; }
  Packet* frame(const FrameSpec& spec) { return test::make_frame(pool, FecTable{}, spec); }
  Octets octets(const FrameSpec& spec) {
    Packet* p = frame(spec);
    Octets out;
    assemble(*p, out);
    pool.release(p);
    return out;
  }
  // What has come in by now; a veth delivers before its sender goes on.
  std::vector<Packet*> take(PacketSocketPort& port) {
    std::vector<Packet*> all;
    std::array<Packet*, 16> burst;
    for (std::size_t n = port.take(pool, burst); n > 0; n = port.take(pool, burst))
      all.insert(all.end(), burst.begin(), burst.begin() + static_cast<std::ptrdiff_t>(n));
    return all;
  }
  std::size_t release(const std::vector<Packet*>& packets) {
    for (Packet* p : packets) pool.release(p);
    return packets.size();
  }
  bool give(PacketSocketPort& port, const FrameSpec& spec) {
    Packet* p = frame(spec);
    if (port.give(pool, {&p, 1}) == 1) return true;
    pool.release(p);
    return false;
  }
  static Octets octets_of(const Packet& p) { return {p.header(), p.header() + p.header_octets + p.payload_octets}; }

  PacketPools pools{1, {.elided_limit = 4096, .real_limit = 4096, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  std::optional<HostNamespace> ours;
  std::optional<HostNamespace> host;
};

TEST_F(PacketSocketPortTest, FramesOfAnyLengthPassBothWaysOctetForOctet) {
  PacketSocketPort port(config(), pool);
  const HostSocket eth0(*host, "eth0");
  EXPECT_TRUE(port.link_up());
  std::uint64_t number = 0;
  for (const std::uint32_t length : {64u, 1500u, 9018u}) {
    for (const bool real : {false, true}) {
      const FrameSpec spec{.frame_octets = length, .real = real};
      ASSERT_TRUE(give(port, spec));
      EXPECT_EQ(eth0.receive(), octets(spec));

      ASSERT_TRUE(eth0.send(octets(spec)));
      const std::vector<Packet*> taken = take(port);
      ASSERT_EQ(taken.size(), 1u);
      const Packet& p = *taken[0];
      EXPECT_EQ(octets_of(p), octets(spec));
      EXPECT_EQ(p.frame_octets, length);
      EXPECT_EQ(p.header_octets, std::min(length - 4, 256u)) << "enough for all headers";
      EXPECT_EQ(p.stream, hash_string("port/netdev/" + ours->name() + "/ry1"));
      EXPECT_EQ(p.offset, number++) << "its number at this port";
      EXPECT_FALSE(p.has(Packet::kElided));
      release(taken);
    }
  }
  EXPECT_EQ(port.counters().sent, 6u);
  EXPECT_EQ(port.counters().received, 6u);
  EXPECT_EQ(port.counters().host_ring_full, 0u);
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
  const HostSocket eth0(*host, "eth0");
  for (const std::uint32_t length : {68u, 1500u, 9022u}) {
    const FrameSpec spec{.tag = VlanTag{.vid = 9, .pcp = 5}, .frame_octets = length};
    ASSERT_TRUE(eth0.send(octets(spec)));
    const std::vector<Packet*> taken = take(port);
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(octets_of(*taken[0]), octets(spec));
    EXPECT_EQ(taken[0]->frame_octets, length);
    release(taken);
    ASSERT_TRUE(give(port, spec));
    EXPECT_EQ(eth0.receive(), octets(spec));
  }
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

class PacketSocketPortOffloadTest : public PacketSocketPortTest {
 protected:
  void SetUp() override {
    PacketSocketPortTest::SetUp();
    if (IsSkipped()) return;
    // Addresses of both families, and a neighbour that is there without being asked.
    EXPECT_TRUE(host->run("sh -c 'echo 0 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6'"));
    EXPECT_TRUE(host->ip("addr add 10.9.0.2/24 dev eth0") && host->ip("addr add 2001:db8::2/64 dev eth0 nodad"));
    EXPECT_TRUE(host->ip("neigh add 10.9.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent") &&
                host->ip("neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent"));
  }

  FileDescriptor open(int type, bool v4) const {
    const NetworkNamespace inside(host->name());
    return FileDescriptor(socket(v4 ? AF_INET : AF_INET6, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  }
  static int connect_to_us(const FileDescriptor& socket, bool v4) {
    sockaddr_in to4{};
    to4.sin_family = AF_INET;
    to4.sin_port = htons(5000);
    inet_pton(AF_INET, "10.9.0.1", &to4.sin_addr);
    sockaddr_in6 to6{};
    to6.sin6_family = AF_INET6;
    to6.sin6_port = htons(5000);
    inet_pton(AF_INET6, "2001:db8::1", &to6.sin6_addr);
    return v4 ? connect(socket.get(), reinterpret_cast<const sockaddr*>(&to4), sizeof to4)
              : connect(socket.get(), reinterpret_cast<const sockaddr*>(&to6), sizeof to6);
  }
  // Of what has come in, the frames of one protocol to port 5000; the kernel's own ICMPv6 is left out.
  std::vector<Octets> take_of(PacketSocketPort& port, std::uint8_t protocol) {
    std::vector<Octets> out;
    const std::vector<Packet*> taken = take(port);
    for (const Packet* p : taken)
      if (const auto view = wire::parse_frame(octets_of(*p)); view && view->protocol == protocol)
        out.push_back(octets_of(*p));
    release(taken);
    return out;
  }
  static void expect_right_checksum(const Octets& frame) {
    const auto view = wire::parse_frame(frame);
    ASSERT_TRUE(view.has_value());
    const std::size_t l4_octets = view->l3_offset + view->ip_octets - view->l4_offset;
    EXPECT_EQ(wire::transport_checksum(view->source, view->destination, view->protocol,
                                       std::span(frame).subspan(view->l4_offset, l4_octets)),
              0);
  }
};

// A veth lets its host leave checksums to whoever takes the frame.
TEST_F(PacketSocketPortOffloadTest, ChecksumsThatAreLeftToTheNicAreCompleted) {
  PacketSocketPort port(config(), pool);
  for (const bool v4 : {true, false}) {
    const FileDescriptor udp = open(SOCK_DGRAM, v4);
    ASSERT_EQ(connect_to_us(udp, v4), 0);
    for (const std::size_t octets : {0uz, 1uz, 18uz, 1001uz, 8952uz - 60}) {
      const std::vector<char> payload(octets, 'x');
      ASSERT_EQ(send(udp.get(), payload.data(), octets, 0), static_cast<ssize_t>(octets)) << std::strerror(errno);
      const std::vector<Octets> frames = take_of(port, wire::ip_protocol::kUdp);
      ASSERT_EQ(frames.size(), 1u);
      expect_right_checksum(frames[0]);
    }
    const FileDescriptor tcp = open(SOCK_STREAM, v4);
    EXPECT_LT(connect_to_us(tcp, v4), 0) << "a SYN is on its way";
    const std::vector<Octets> frames = take_of(port, wire::ip_protocol::kTcp);
    ASSERT_EQ(frames.size(), 1u);
    expect_right_checksum(frames[0]);
  }
}

TEST_F(PacketSocketPortOffloadTest, AndInTaggedFrames) {
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
TEST_F(PacketSocketPortOffloadTest, SegmentationThatIsLeftToTheNicIsDone) {
  PacketSocketPort port(config(), pool);
  constexpr int kSegment = 1000;
  for (const bool v4 : {true, false}) {
    const FileDescriptor udp = open(SOCK_DGRAM, v4);
    ASSERT_EQ(setsockopt(udp.get(), SOL_UDP, UDP_SEGMENT, &kSegment, sizeof kSegment), 0) << std::strerror(errno);
    ASSERT_EQ(connect_to_us(udp, v4), 0);
    // One that fits a slot of the ring, and one that does not.
    for (const std::size_t segments : {5uz, 60uz}) {
      Octets payload(segments * kSegment - 10);
      for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i / kSegment + i);
      ASSERT_EQ(send(udp.get(), payload.data(), payload.size(), 0), static_cast<ssize_t>(payload.size()))
          << std::strerror(errno);
      const std::vector<Octets> frames = take_of(port, wire::ip_protocol::kUdp);
      ASSERT_EQ(frames.size(), segments);
      Octets arrived;
      for (const Octets& f : frames) {
        expect_right_checksum(f);
        const std::size_t headers = wire::parse_frame(f)->l4_offset + 8uz;
        EXPECT_LE(f.size() - headers, std::size_t{kSegment});
        arrived.insert(arrived.end(), f.begin() + static_cast<std::ptrdiff_t>(headers), f.end());
      }
      EXPECT_EQ(arrived, payload);
    }
  }
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
  PacketPools few(1, {.elided_limit = 64, .real_limit = 4, .real_octets = 9728});
  PacketPool& small = few[WorkerId{0}];
  PacketSocketPort port(config(), small);
  const HostSocket eth0(*host, "eth0");
  for (std::uint32_t i = 0; i < 6; ++i) ASSERT_TRUE(eth0.send(octets({.psn = i})));
  std::array<Packet*, 16> first;
  ASSERT_EQ(port.take(small, first), 4u);
  std::array<Packet*, 16> second;
  EXPECT_EQ(port.take(small, second), 0u);
  for (std::size_t i = 0; i < 4; ++i) small.release(first[i]);
  ASSERT_EQ(port.take(small, second), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(octets_of(*second[i]), octets({.psn = 4 + i}));
    small.release(second[i]);
  }
  EXPECT_EQ(port.counters().no_memory, 0u);
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
  refused({.interface = "lo", .netns = ours->name()}, HasSubstr("no Ethernet interface"));
  refused({.interface = "ry1", .netns = ours->name(), .mtu = 9216},
          AllOf(HasSubstr("MTU is 9000, and the link's is 9216"), HasSubstr("ip link set ry1 mtu 9216"),
                HasSubstr("mtu: 9000")));
  test::without_capabilities([&] { refused({.interface = "ry1"}, HasSubstr("CAP_NET_RAW")); });
  PacketSocketPort port(config(), pool);
  EXPECT_TRUE(port.link_up()) << "nothing of what failed is in the way";
}

}  // namespace
}  // namespace railyard
