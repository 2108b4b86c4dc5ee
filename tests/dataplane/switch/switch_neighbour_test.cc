// Neighbours whose MAC address the switch was not told: it asks, keeps what is for them, and learns from what they
// send.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/nd.h"
#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

using Octets = std::vector<std::byte>;

Octets arp_request(wire::MacAddress from, const wire::IpAddress& sender, const wire::IpAddress& target) {
  Octets octets(64);
  octets.resize(wire::write_arp_request(octets, {.destination = wire::kBroadcastMac, .source = from}, sender, target));
  return octets;
}

wire::MacAddress destination_of(const Sent& s) { return wire::read<wire::Ethernet::Destination>(s.octets.data()); }

class SwitchNeighbours : public ::testing::Test {
 protected:
  static SwitchConfig config() {
    SwitchConfig c = switch_config(3);
    c.ports[1].peer_mac.reset();
    return c;
  }
  void send_to_stranger(Duration start, std::uint32_t psn = 0) {
    rig.send(kIn, start, {.destination = host(kOut), .psn = psn, .frame_octets = 1000});
  }
  SwitchRig rig{config()};
};

TEST_F(SwitchNeighbours, AnUnknownOneIsAskedForAndTheFrameWaits) {
  send_to_stranger(0_ns);
  rig.run(10_us);
  EXPECT_EQ(rig.sw.counters().queued, 1u);
  EXPECT_EQ(rig.sw.counters().dropped(), 0u);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(destination_of(sent[0]).is_broadcast());
  EXPECT_EQ(wire::read_arp(sent[0].octets.data() + 14), (wire::ArpMessage{.operation = wire::arp_operation::kRequest,
                                                                          .sender_mac = mac_of(kOut),
                                                                          .sender_ip = host(kOut, 254),
                                                                          .target_mac = {},
                                                                          .target_ip = host(kOut)}));
}

TEST_F(SwitchNeighbours, AnUnknownIpv6NeighbourIsSolicited) {
  rig.send(kIn, 0_ns, {.source = host6(kIn), .destination = host6(kOut)});
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  const auto message = wire::parse_neighbour(sent[0].octets, sent[0].view());
  ASSERT_TRUE(message.has_value());
  EXPECT_FALSE(message->advertisement);
  EXPECT_EQ(message->target, host6(kOut));
  EXPECT_EQ(message->link_layer, mac_of(kOut));
  EXPECT_EQ(sent[0].view().source, host6(kOut, 254));
}

TEST_F(SwitchNeighbours, ItIsAskedForOnceAMillisecondAndTheLatestSixteenFramesAreKept) {
  for (std::uint32_t i = 0; i < 300; ++i) send_to_stranger(10_us * i, i);
  rig.run(5_ms);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 3u);
  EXPECT_EQ(rig.sw.counters().queued, 16u);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kNeighbourUnresolved), 284u);
  rig.send_octets(kOut, 5_ms, arp_request(peer_of(kOut), host(kOut), host(kOut)));
  rig.run(6_ms);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 16u);
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(sent[i].view().psn, 284 + i) << "in the order in which they came";
  EXPECT_EQ(rig.sw.counters().queued, 0u);
}

// It answers, asks for something itself, or just sends: all of it tells its address.
TEST_F(SwitchNeighbours, WhateverItSendsIntroducesItAndReleasesWhatWaits) {
  for (const bool data : {false, true}) {
    SwitchRig r(config());
    r.send(kIn, 0_ns, {.destination = host(kOut), .ttl = 9, .frame_octets = 1000});
    r.run(10_us);
    r.wire.sent(kOut);
    const Instant heard = data ? r.send(kOut, 10_us, {.destination = host(port(2))})
                               : r.send_octets(kOut, 10_us, arp_request(peer_of(kOut), host(kOut), host(kOut)));
    r.run(20_us);
    const auto sent = r.wire.sent(kOut);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].start, heard);
    EXPECT_EQ(destination_of(sent[0]), peer_of(kOut));
    EXPECT_EQ(sent[0].view().ttl, 8) << "decremented once";
    EXPECT_EQ(r.sw.counters().generated, 1u) << "the request";
    EXPECT_EQ(r.wire.sent(port(2)).size(), data ? 1u : 0u);
  }
}

TEST_F(SwitchNeighbours, AfterACrashItIsAskedForAgain) {
  rig.send_octets(kOut, 0_ns, arp_request(peer_of(kOut), host(kOut), host(kOut)));
  send_to_stranger(1_us, 0);
  rig.run(10_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u) << "known";
  rig.sw.change_at(at(20_us), [&](Instant now) { rig.sw.crash(now); });
  send_to_stranger(30_us, 1);
  rig.run(40_us);
  const auto asked = rig.wire.sent(kOut);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(destination_of(asked[0]).is_broadcast());
  rig.send_octets(kOut, 50_us, arp_request(peer_of(kOut), host(kOut), host(kOut)));
  rig.run(60_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].view().psn, 1u);
}

TEST_F(SwitchNeighbours, ItCountsAsKnownFromTheInstantOfItsFirstFrameOn) {
  // Both are handed to the switch together; the stranger's frame takes effect 1 us after the one that is for it.
  rig.send(kIn, 1_us, {.destination = host(kOut), .frame_octets = 1000});
  rig.send(kOut, 2_us, {.destination = host(port(2)), .frame_octets = 1000});
  rig.run(20_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE(destination_of(sent[0]).is_broadcast()) << "it was asked for first";
  EXPECT_EQ(sent[0].start, at(1'680'640_ps));
  EXPECT_EQ(sent[1].start, at(2'680'640_ps));
}

TEST_F(SwitchNeighbours, AnotherNicBehindTheSamePortIsBelievedWhenItSaysSo) {
  const wire::MacAddress other = test::mac(0x77);
  rig.send(kOut, 0_ns, {.destination = host(port(2)), .frame_octets = 1000});
  send_to_stranger(1_us);
  rig.send_octets(kOut, 2_us, arp_request(other, host(kOut), host(kOut)));
  send_to_stranger(3_us);
  rig.run(20_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(destination_of(sent[0]), peer_of(kOut));
  EXPECT_EQ(destination_of(sent[1]), other);
}

TEST_F(SwitchNeighbours, AConfiguredOneIsBelieved) {
  rig.send_octets(kIn, 0_ns, arp_request(test::mac(0x99), host(kIn), host(kIn)));
  rig.send(port(2), 1_us, {.destination = host(kIn)});
  rig.run(10_us);
  const auto sent = rig.wire.sent(kIn);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(destination_of(sent[0]), peer_of(kIn));
}

// ---- Slicing -------------------------------------------------------------------------------------------------------

// Three of four peers are strangers at first, two of them get another NIC on the way; one VLAN is tagged, one path is
// sprayed. However time is cut, the same octets leave at the same instants.
std::uint64_t digest_of(ForwardingMode mode, std::optional<Seed> slices) {
  SwitchConfig config = switch_config(4);
  config.mode = mode;
  for (const std::size_t p : {1u, 2u, 3u}) config.ports[p].peer_mac.reset();
  config.ports[1].vlans = VlanMembership(10);
  config.ports[1].vlans.allow_tagged(1);
  config.routes[6].ports = {port(1), port(2), port(3)};  // 10.0.3.0/24
  config.paths.by_class[0].policy = PathPolicy::kSpray;
  SwitchRig rig(config);
  rig.sw.digest_departures(true);
  RngStream rng(Seed{1}, "switch_neighbour_test/traffic");
  for (std::uint16_t p = 0; p < 4; ++p) {
    Duration start = 10_us * p;
    for (std::uint32_t i = 0; i < 200; ++i) {
      FrameSpec spec{.destination = host(port(static_cast<std::uint16_t>(rng.below(4)))), .psn = i};
      spec.dscp = static_cast<std::uint8_t>(rng.below(64));
      spec.frame_octets = static_cast<std::uint32_t>(64 + rng.below(3000));
      rig.send(port(p), start, spec);
      start += rig.wire.serialization(port(p), spec.frame_octets + kGapOctets) + 50_ns;
      if (i == 100 && p >= 2) {
        rig.send_octets(port(p), start,
                        arp_request(test::mac(static_cast<std::uint8_t>(0x70 + p)), host(port(p)), host(port(p))));
        start += rig.wire.serialization(port(p), 64 + kGapOctets);
      }
    }
  }
  RngStream cuts(slices.value_or(Seed{}), "switch_neighbour_test/cuts");
  while (slices && rig.sw.done() < at(200_us)) {
    const Instant next = std::max(rig.sw.next(), rig.sw.done());
    rig.sw.advance(cuts.below(3) == 0 ? next + 1_ps
                                      : next + Duration{static_cast<std::int64_t>(cuts.below(3'000'000))});
    EXPECT_TRUE(rig.sw.counters().balanced());
  }
  rig.run(1_ms);
  EXPECT_EQ(rig.sw.counters().queued, 0u);
  return rig.sw.digest().value();
}

TEST(SwitchNeighboursSlicing, IsInvisible) {
  for (const ForwardingMode mode : {ForwardingMode::kStoreAndForward, ForwardingMode::kCutThrough}) {
    const std::uint64_t whole = digest_of(mode, {});
    for (std::uint64_t seed = 1; seed <= 8; ++seed) ASSERT_EQ(digest_of(mode, Seed{seed}), whole) << seed;
  }
}

// ---- Another host at a port -----------------------------------------------------------------------------------------

TEST_F(SwitchNeighbours, AHostWhoseAddressIsSaidTakesThePlaceOfOneThatWasAskedFor) {
  send_to_stranger(0_ns);
  rig.run(10_us);
  rig.wire.sent(kOut);
  const wire::MacAddress said = test::mac(77);
  rig.sw.change_at(at(20_us), [&](Instant now) { rig.sw.set_peer(now, kOut, said); });
  rig.run(30_us);
  auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u) << "what waited";
  EXPECT_EQ(destination_of(sent[0]), said);
  // What it sends itself changes nothing.
  rig.send_octets(kOut, 40_us, arp_request(peer_of(kOut), host(kOut), host(kOut)));
  send_to_stranger(50_us);
  rig.run(60_us);
  sent = rig.wire.sent(kOut);
  EXPECT_EQ(destination_of(sent.back()), said);
}

TEST_F(SwitchNeighbours, AHostWhoseAddressIsNotKnownIsAskedForInThePlaceOfTheOneBefore) {
  rig.sw.change_at(at(1_us), [&](Instant now) { rig.sw.set_peer(now, kOut, test::mac(77)); });
  rig.sw.change_at(at(2_us), [&](Instant now) { rig.sw.set_peer(now, kOut, std::nullopt); });
  rig.run(5_us);
  send_to_stranger(10_us);
  rig.run(20_us);
  auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(destination_of(sent[0]).is_broadcast());
  rig.send_octets(kOut, 30_us, arp_request(peer_of(kOut), host(kOut), host(kOut)));
  rig.run(40_us);
  sent = rig.wire.sent(kOut);
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(destination_of(sent.front()), peer_of(kOut));
}

}  // namespace
}  // namespace railyard
