// Ports that make their interface in the namespace of a host, which uses it.
#include "dataplane/port/tap_port.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "dataplane/packet/assemble.h"
#include "dataplane/packet/rewrite.h"
#include "dataplane/port/network_namespace.h"
#include "tests/dataplane/port/outside_port_fixture.h"
#include "tests/dataplane/port/without_capabilities.h"
#include "tests/support/frames.h"

namespace railyard {
namespace {

using test::HostNamespace;
using test::HostSocket;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class TapPortTest : public test::OutsidePortFixture {
 protected:
  void SetUp() override {
    OutsidePortFixture::SetUp();
    if (!IsSkipped() && access("/dev/net/tun", R_OK | W_OK) != 0) GTEST_SKIP() << "needs /dev/net/tun";
  }

  TapPortConfig config() const {
    return {.interface = "eth0", .netns = host->name(), .mtu = 9000, .mac = test::mac(9), .up = true};
  }
};

TEST_F(TapPortTest, FramesOfAnyLengthPassBothWaysOctetForOctet) {
  TapPort port(config(), pool);
  expect_whole_frames(port, "port/tap/" + host->name() + "/eth0");
}

// What `ethtool eth0` shows.
TEST_F(TapPortTest, TheInterfaceHasTheSpeedOfTheLink) {
  TapPortConfig with_rate = config();
  with_rate.rate = BitRate{400'000'000'000};
  const TapPort port(with_rate, pool);
  const NetworkNamespace inside(host->name());
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ethtool_cmd settings{};
  settings.cmd = ETHTOOL_GSET;
  ifreq request{};
  std::strcpy(request.ifr_name, "eth0");
  request.ifr_data = reinterpret_cast<char*>(&settings);
  ASSERT_EQ(ioctl(socket.get(), SIOCETHTOOL, &request), 0);
  EXPECT_EQ(ethtool_cmd_speed(&settings), 400'000u);
  EXPECT_EQ(settings.duplex, DUPLEX_FULL);
}

TEST_F(TapPortTest, TagsStay) {
  TapPort port(config(), pool);
  expect_tags_stay(port);
}

// A tag that is put in takes the room in front of the frame.
TEST_F(TapPortTest, ATagThatIsPutInOnTheWayStays) {
  TapPort port(config(), pool);
  const HostSocket eth0(*host, "eth0");
  Packet* p = frame({.frame_octets = 300, .real = true});
  push_vlan_tag(*p, 9);
  Octets whole;
  assemble(*p, whole);
  ASSERT_EQ(whole.size(), 300u);
  ASSERT_EQ(port.give(pool, {&p, 1}), 1u);
  EXPECT_EQ(eth0.receive(), whole);
  EXPECT_EQ(port.counters().sent, 1u);
}

TEST_F(TapPortTest, ChecksumsThatAreLeftToTheNicAreCompleted) {
  TapPort port(config(), pool);
  give_addresses();
  expect_whole_checksums(port);
}

TEST_F(TapPortTest, SegmentationThatIsLeftToTheNicIsDone) {
  TapPort port(config(), pool);
  give_addresses();
  expect_segmentation(port);
}

TEST_F(TapPortTest, SegmentsOfTcpThatLeaveTogetherArriveInOnePiece) {
  TapPort port(config(), pool);
  expect_joined_segments(port);
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
  TapPort port(config(), few());
  expect_to_wait_for_memory(port);
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
  EXPECT_EQ(taken[0]->frame_octets, 20'004u) << "by which the NIC drops it";
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

// As a host sees that its cable ends in a port that is down.
TEST_F(TapPortTest, TheCarrierIsSeenByTheHost) {
  TapPort port(config(), pool);
  EXPECT_TRUE(port.link_up());
  port.set_carrier(false);
  EXPECT_TRUE(host->run("sh -c 'ip link show eth0 | grep -q NO-CARRIER'"));
  EXPECT_FALSE(port.link_up());
  port.set_carrier(true);
  EXPECT_TRUE(host->run("sh -c 'ip link show eth0 | grep -q LOWER_UP'"));
  EXPECT_TRUE(port.link_up());
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
                ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("/dev/net/tun is missing"), HasSubstr("modprobe tun"))));
  }).join();
}

}  // namespace
}  // namespace railyard
