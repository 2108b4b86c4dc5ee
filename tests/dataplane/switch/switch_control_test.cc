// A control plane outside (dataplane/switch/switch_control.cc): what reaches the speaker, and what it says.
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/device/attachment.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/ethernet.h"
#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

using Octets = std::vector<std::byte>;

// The speaker's side of one port.
class Panel final : public Attachment {
 public:
  std::size_t take(PacketPool&, std::span<Packet*> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && !says.empty(); ++n) {
      packets[n] = says.front();
      says.pop_front();
    }
    return n;
  }
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && room > 0; ++n, --room) {
      heard.push_back(test::octets_of(*packets[n]));
      pool.release(packets[n]);
    }
    return n;
  }
  void release_packets(PacketPool& pool) override {
    for (Packet* p : says) pool.release(p);
    says.clear();
  }
  void set_carrier(bool up) noexcept override { carrier = up; }

  std::deque<Packet*> says;
  std::vector<Octets> heard;
  std::size_t room = 1'000'000;
  bool carrier = true;
};

class SwitchControl : public ::testing::Test {
 protected:
  explicit SwitchControl(SwitchConfig config = switch_config(3)) : rig(std::move(config)) {
    for (std::uint16_t p = 0; p < 3; ++p) {
      panels.push_back(new Panel);
      rig.sw.attach_control(port(p), std::unique_ptr<Attachment>(panels.back()));
    }
  }
  ~SwitchControl() override {
    for (std::uint16_t p = 0; p < 3; ++p) rig.sw.attach_control(port(p), nullptr);
  }
  void run(Duration until) {
    rig.run(until);
    rig.sw.poll(rig.sw.done(), {});
    rig.run(until + 5_us);
    rig.sw.poll(rig.sw.done(), {});
  }
  // As a port hands over what came from outside.
  Packet* outside(std::span<const std::byte> octets) {
    Packet* const p = rig.wire.pool().allocate_real();
    std::memcpy(p->header(), octets.data(), octets.size());
    p->header_octets = static_cast<std::uint16_t>(octets.size());
    p->payload_octets = 0;
    p->frame_octets = std::max<std::uint32_t>(static_cast<std::uint32_t>(octets.size()) + 4, 64);
    return p;
  }
  static Octets ethernet(wire::MacAddress to, wire::MacAddress from, std::uint16_t type, std::size_t octets) {
    Octets out(octets);
    wire::write<wire::Ethernet::Destination>(out.data(), to);
    wire::write<wire::Ethernet::Source>(out.data(), from);
    wire::write<wire::Ethernet::EtherType>(out.data(), type);
    return out;
  }

  SwitchRig rig;
  std::vector<Panel*> panels;
};

TEST_F(SwitchControl, WhatIsForTheSwitchReachesTheSpeakerAtItsPort) {
  FrameSpec to_loopback{.destination = kLoopback, .real = true};
  rig.send(kIn, 0_ns, to_loopback);
  FrameSpec to_link_local{.source = test::ip("fe80::1"), .destination = test::ip("fe80::2"), .real = true};
  rig.send(kOther, 0_ns, to_link_local);
  Octets arp(64);
  arp.resize(
      wire::write_arp_request(arp, {.destination = wire::kBroadcastMac, .source = peer_of(kIn)}, host(kIn), kLoopback));
  rig.send_octets(kIn, 1_us, arp);
  run(10_us);
  EXPECT_EQ(panels[kIn.index()]->heard.size(), 2u);
  EXPECT_EQ(panels[kOther.index()]->heard.size(), 1u);
  EXPECT_TRUE(panels[kOut.index()]->heard.empty());
  EXPECT_TRUE(rig.wire.sent(kIn).empty()) << "the switch answered ARP or ping itself";
}

TEST_F(SwitchControl, WhatIsForwardedDoesNot) {
  rig.send(kIn, 0_ns);
  FrameSpec nowhere{.destination = test::ip("198.51.100.7")};
  rig.send(kIn, 1_us, nowhere);
  run(10_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u);
  EXPECT_EQ(rig.drops(DropReason::kNoRoute), 1u);
  for (const Panel* p : panels) EXPECT_TRUE(p->heard.empty());
}

// An address that only the speaker knows of, such as that of a numbered interface.
TEST_F(SwitchControl, LocalAddressesOfTheSpeakerNeedNoRoute) {
  rig.sw.set_local_addresses({test::ip("198.51.100.9"), test::ip("198.51.100.7")});
  for (const char* to : {"198.51.100.7", "198.51.100.8", "198.51.100.9"})
    rig.send(kIn, 0_ns, {.destination = test::ip(to), .real = true});
  run(10_us);
  EXPECT_EQ(panels[kIn.index()]->heard.size(), 2u);
  EXPECT_EQ(rig.drops(DropReason::kNoRoute), 1u);
}

TEST_F(SwitchControl, WhatTheSpeakerSaysLeavesByThePortInItsOwnClass) {
  constexpr std::uint16_t kLldp = 0x88CC;
  const wire::MacAddress nearest_bridge{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E}};
  panels[kOut.index()]->says.push_back(outside(ethernet(nearest_bridge, mac_of(kOut), kLldp, 60)));
  const FrameSpec bgp{.to = peer_of(kOut),
                      .from = mac_of(kOut),
                      .source = kLoopback,
                      .destination = host(kOut),
                      .dscp = 48,
                      .frame_octets = 128,
                      .real = true};
  Packet* const made = rig.frame(kOut, bgp);
  Octets octets = test::octets_of(*made);
  octets.resize(bgp.frame_octets - 4);  // all but the FCS
  rig.wire.pool().release(made);
  panels[kOut.index()]->says.push_back(outside(octets));
  run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(wire::read<wire::Ethernet::EtherType>(sent[0].octets.data()), kLldp);
  EXPECT_EQ(sent[1].octets, octets) << "changed on its way";
  EXPECT_EQ(rig.count(kOut, cls(6)).tx_packets, 2u);
}

TEST_F(SwitchControl, MalformedOrTooLongIsDroppedAsSuch) {
  panels[kOut.index()]->says.push_back(outside(ethernet(peer_of(kOut), mac_of(kOut), 0x0800, 20)));
  Packet* const giant = outside(ethernet(peer_of(kOut), mac_of(kOut), 0x88CC, 60));
  giant->frame_octets = 20'000;
  panels[kOut.index()]->says.push_back(giant);
  run(10_us);
  EXPECT_TRUE(rig.wire.sent(kOut).empty());
  EXPECT_EQ(rig.drops(DropReason::kTooShort), 1u);
  EXPECT_EQ(rig.drops(DropReason::kGiant), 1u);
}

TEST_F(SwitchControl, ASpeakerThatDoesNotReadLosesWhatIsForIt) {
  panels[kIn.index()]->room = 0;
  for (int i = 0; i < 300; ++i) rig.send(kIn, 100_ns * i, {.destination = kLoopback, .real = true});
  run(200_us);
  EXPECT_EQ(rig.drops(DropReason::kControlPlaneFull), 300u - 256u);
  panels[kIn.index()]->room = 2000;
  run(300_us);
  EXPECT_EQ(panels[kIn.index()]->heard.size(), 256u);
}

TEST_F(SwitchControl, ItsInterfaceHasTheCarrierOfTheLink) {
  rig.sw.link_down_at(at(1_us), kOut);
  run(2_us);
  EXPECT_FALSE(panels[kOut.index()]->carrier);
  EXPECT_TRUE(panels[kIn.index()]->carrier);
  panels[kOut.index()]->says.push_back(outside(ethernet(peer_of(kOut), mac_of(kOut), 0x88CC, 60)));
  run(10_us);
  EXPECT_EQ(rig.drops(DropReason::kLinkDown), 1u);
  rig.sw.link_up_at(at(20_us), kOut);
  run(21_us);
  EXPECT_TRUE(panels[kOut.index()]->carrier);
}

class SwitchControlTowardsHosts : public SwitchControl {
 protected:
  SwitchControlTowardsHosts() : SwitchControl(config()) {}
  static SwitchConfig config() {
    SwitchConfig c = switch_config(3);
    c.ports[0].faces_hosts = true;
    return c;
  }
};

// Hosts ask for addresses of other hosts: the kernel of a router would not answer for these.
TEST_F(SwitchControlTowardsHosts, ProxyArpStaysWithTheSwitch) {
  const auto ask = [&](const wire::IpAddress& for_whom, Duration when) {
    Octets arp(64);
    arp.resize(wire::write_arp_request(arp, {.destination = wire::kBroadcastMac, .source = peer_of(kIn)}, host(kIn),
                                       for_whom));
    rig.send_octets(kIn, when, arp);
  };
  ask(host(kOut), 0_ns);
  ask(test::ip("198.51.100.7"), 1_us);  // no way there: the speaker's affair
  run(10_us);
  EXPECT_EQ(rig.wire.sent(kIn).size(), 1u);
  EXPECT_EQ(panels[kIn.index()]->heard.size(), 1u);
}

}  // namespace
}  // namespace railyard
