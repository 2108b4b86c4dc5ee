// Ports that make their interface in the namespace of a host, which uses it.
#include "dataplane/port/tap_port.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "dataplane/base/hash.h"
#include "dataplane/packet/assemble.h"
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

class TapPortTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::why_no_namespaces()) GTEST_SKIP() << *why;
    if (access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "needs /dev/net/tun";
    host.emplace();
    host->keep_quiet();
  }
  ~TapPortTest() override { EXPECT_EQ(pools.in_use(), 0u) << "a packet was lost, or given back twice"; }

  TapPortConfig config() const {
    return {.interface = "eth0", .netns = host->name(), .mtu = 9000, .mac = test::mac(9), .up = true};
  }
  Packet* frame(const FrameSpec& spec) { return test::make_frame(pool, FecTable{}, spec); }
  Octets octets(const FrameSpec& spec) {
    Packet* p = frame(spec);
    Octets out;
    assemble(*p, out);
    pool.release(p);
    return out;
  }
  std::vector<Packet*> take(TapPort& port) {
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
  bool give(TapPort& port, const FrameSpec& spec) {
    Packet* p = frame(spec);
    if (port.give(pool, {&p, 1}) == 1) return true;
    pool.release(p);
    return false;
  }
  static Octets octets_of(const Packet& p) { return {p.header(), p.header() + p.header_octets + p.payload_octets}; }

  PacketPools pools{1, {.elided_limit = 4096, .real_limit = 8192, .real_octets = 9728}};
  PacketPool& pool = pools[WorkerId{0}];
  std::optional<HostNamespace> host;
};

TEST_F(TapPortTest, FramesOfAnyLengthPassBothWaysOctetForOctet) {
  TapPort port(config(), pool);
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
      EXPECT_EQ(p.stream, hash_string("port/tap/" + host->name() + "/eth0"));
      EXPECT_EQ(p.offset, number++) << "its number at this port";
      EXPECT_FALSE(p.has(Packet::kElided));
      release(taken);
    }
  }
  EXPECT_EQ(port.counters().sent, 6u);
  EXPECT_EQ(port.counters().received, 6u);
  EXPECT_EQ(port.counters().host_ring_full, 0u);
}

TEST_F(TapPortTest, TagsStay) {
  TapPort port(config(), pool);
  const HostSocket eth0(*host, "eth0");
  const FrameSpec spec{.tag = VlanTag{.vid = 9, .pcp = 5}, .frame_octets = 9022};
  ASSERT_TRUE(eth0.send(octets(spec)));
  const std::vector<Packet*> taken = take(port);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(octets_of(*taken[0]), octets(spec));
  release(taken);
  ASSERT_TRUE(give(port, spec));
  EXPECT_EQ(eth0.receive(), octets(spec));
}

TEST_F(TapPortTest, WhatTheRingHasNoRoomForIsCountedAndTheBooksBalance) {
  TapPort port(config(), pool);
  const HostSocket eth0(*host, "eth0");
  const Octets one = octets({.frame_octets = 200});
  std::uint64_t sent = 0;
  for (; sent < 6000; ++sent) eth0.send(one);
  EXPECT_EQ(release(take(port)), 4096u);
  for (; sent < 6100; ++sent) eth0.send(one);
  EXPECT_EQ(release(take(port)), 100u);
  const OutsidePortCounters c = port.counters();
  EXPECT_EQ(c.received, 4196u);
  EXPECT_EQ(c.received + c.host_ring_full, sent);
}

TEST_F(TapPortTest, WhatThereIsNoMemoryForStaysInTheRing) {
  PacketPools few(1, {.elided_limit = 64, .real_limit = 4, .real_octets = 9728});
  PacketPool& small = few[WorkerId{0}];
  TapPort port(config(), small);
  const HostSocket eth0(*host, "eth0");
  for (std::uint32_t i = 0; i < 6; ++i) ASSERT_TRUE(eth0.send(octets({.psn = i})));
  std::array<Packet*, 16> first;
  ASSERT_EQ(port.take(small, first), 4u);
  for (std::size_t i = 0; i < 4; ++i) small.release(first[i]);
  std::array<Packet*, 16> second;
  ASSERT_EQ(port.take(small, second), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(octets_of(*second[i]), octets({.psn = 4 + i}));
    small.release(second[i]);
  }
}

TEST_F(TapPortTest, AGiantIsOneByItsLength) {
  TapPort port(config(), pool);
  ASSERT_TRUE(host->ip("link set eth0 mtu 30000"));
  const HostSocket eth0(*host, "eth0");
  Octets giant = octets({.frame_octets = 5000});
  giant.resize(20'000, std::byte{7});
  ASSERT_TRUE(eth0.send(giant));
  const std::vector<Packet*> taken = take(port);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0]->frame_octets, pool.real_octets() + 4)
      << "what there is room for, which is more than the NIC takes";
  EXPECT_TRUE(std::equal(giant.begin(), giant.begin() + 9728, taken[0]->header()));
  release(taken);
  ASSERT_TRUE(eth0.send(octets({.frame_octets = 600})));
  EXPECT_EQ(release(take(port)), 1u) << "and it goes on";
}

TEST_F(TapPortTest, AnInterfaceThatIsDownHoldsPacketsBackWithoutLoss) {
  TapPortConfig down = config();
  down.up = false;
  TapPort port(down, pool);
  EXPECT_FALSE(port.link_up());
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(take(port).empty());
    EXPECT_TRUE(give(port, {.psn = 1})) << "it waits in the port";
    EXPECT_FALSE(give(port, {.psn = 2}));
    ASSERT_TRUE(host->ip("link set eth0 up"));
    EXPECT_TRUE(port.link_up());
    const HostSocket eth0(*host, "eth0");
    EXPECT_TRUE(take(port).empty());
    EXPECT_EQ(eth0.receive(), octets({.psn = 1}));
    ASSERT_TRUE(eth0.send(octets({.psn = 3})));
    EXPECT_EQ(release(take(port)), 1u);
    ASSERT_TRUE(host->ip("link set eth0 down"));
    EXPECT_FALSE(port.link_up());
  }
  EXPECT_EQ(port.counters().not_sent, 0u);
}

TEST_F(TapPortTest, AnInterfaceThatIsRemovedIsALinkThatIsDown) {
  TapPort port(config(), pool);
  {
    const HostSocket eth0(*host, "eth0");
    for (int i = 0; i < 5000; ++i) eth0.send(octets({.frame_octets = 100}));
  }
  const std::uint64_t lost = port.counters().host_ring_full;
  EXPECT_EQ(lost, 5000u - 4096u);
  ASSERT_TRUE(host->ip("link del eth0"));
  EXPECT_FALSE(port.link_up());
  EXPECT_TRUE(take(port).empty());
  EXPECT_TRUE(give(port, {.psn = 1})) << "it waits in the port";
  EXPECT_FALSE(give(port, {.psn = 2}));
  EXPECT_EQ(port.counters().host_ring_full, lost) << "the last that is known";
}

TEST_F(TapPortTest, AnInterfaceMayBeMovedAndRenamed) {
  TapPort port(config(), pool);
  const HostNamespace other;
  other.keep_quiet();
  ASSERT_TRUE(host->ip("link set eth0 netns " + other.name()) && other.ip("link set eth0 name nic7 up"));
  EXPECT_TRUE(port.link_up());
  const HostSocket nic7(other, "nic7");
  for (int i = 0; i < 5000; ++i) nic7.send(octets({.frame_octets = 100}));
  EXPECT_EQ(port.counters().host_ring_full + release(take(port)), 5000u);
  ASSERT_TRUE(give(port, {.psn = 1}));
  EXPECT_EQ(nic7.receive(), octets({.psn = 1}));
}

TEST_F(TapPortTest, TheInterfaceIsAsItIsWantedAndGoneWithThePort) {
  {
    const TapPort port(config(), pool);
    EXPECT_TRUE(host->run("sh -c 'ip link show eth0 | grep -q \"UP.* mtu 9000 \"'"));
    EXPECT_TRUE(host->run("sh -c 'ip link show eth0 | grep -q 02:00:00:00:00:09'"));
  }
  EXPECT_FALSE(host->ip("link show eth0 2>/dev/null"));
}

TEST_F(TapPortTest, WhatCannotBeIsNamedWithWhatWouldHelp) {
  const auto refused = [&](const TapPortConfig& c, const auto& message) {
    EXPECT_THAT([&] { TapPort(c, pool); }, ThrowsMessage<std::runtime_error>(message));
    EXPECT_FALSE(host->ip("link show eth0 2>/dev/null")) << "nothing is left behind";
  };
  refused({.interface = "eth0", .netns = "railyard-nonesuch"}, HasSubstr("ip netns add railyard-nonesuch"));
  refused({.interface = "a-name-of-16-let", .netns = host->name()}, HasSubstr("16 characters; expected at most 15"));
  refused({.interface = "a/b", .netns = host->name()}, HasSubstr("cannot contain '/'"));
  refused({.interface = "ry%d", .netns = host->name()}, HasSubstr("cannot contain '%'"));
  refused({.interface = "eth0", .netns = host->name(), .mtu = 70'000},
          AllOf(HasSubstr("TAP 'eth0'"), HasSubstr("MTU of 70000"), HasSubstr("mtu:")));
  refused({.interface = "eth0", .netns = host->name(), .mac = wire::kBroadcastMac}, HasSubstr("ff:ff:ff:ff:ff:ff"));
  refused({.interface = "lo", .netns = host->name()}, AllOf(HasSubstr("exists already"), HasSubstr("ip link del lo")));
  ASSERT_TRUE(host->ip("tuntap add tap7 mode tap"));
  refused({.interface = "tap7", .netns = host->name()}, HasSubstr("exists already"));
  test::without_capabilities([&] { refused({.interface = "railyard-test"}, HasSubstr("CAP_NET_ADMIN")); });
  {
    const TapPort port(config(), pool);
    EXPECT_THAT([&] { TapPort(config(), pool); }, ThrowsMessage<std::runtime_error>(HasSubstr("exists already")));
  }
}

TEST_F(TapPortTest, AMissingDeviceIsNamedWithWhatWouldHelp) {
  std::thread([&] {
    // Out of sight for this thread alone.
    ASSERT_EQ(unshare(CLONE_FS | CLONE_NEWNS), 0) << std::strerror(errno);
    ASSERT_EQ(mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0) << std::strerror(errno);
    ASSERT_EQ(mount("none", "/dev/net", "tmpfs", 0, nullptr), 0) << std::strerror(errno);
    EXPECT_THAT([&] { TapPort({.interface = "railyard-test"}, pool); },
                ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("no /dev/net/tun"), HasSubstr("modprobe tun"))));
  }).join();
}

}  // namespace
}  // namespace railyard
