// How a host receives: what reaches its endpoint and when, what it answers itself, and how it pauses the fabric.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/nd.h"
#include "tests/dataplane/nic/host_rig.h"

namespace railyard {
namespace {

// ---- Receiving ------------------------------------------------------------------------------------------------------

TEST(HostReceiving, FramesReachTheEndpointWhenTheyTakeEffect) {
  Rig rig;
  std::vector<Instant> effects;
  for (int i = 0; i < 40; ++i) {
    Packet* p = rig.frame({.psn = static_cast<std::uint32_t>(i), .frame_octets = 1000, .stream = 9, .offset = 77});
    p->sent = at(1_ns * i);
    effects.push_back(rig.wire.send(kPort, at(kSlot * i), p));
  }
  rig.run(20_us);
  ASSERT_EQ(rig.source.arrived.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i) {
    const Source::Arrived& a = rig.source.arrived[i];
    EXPECT_EQ(a.at, effects[i]);
    EXPECT_EQ(a.sent, at(1_ns * static_cast<std::int64_t>(i)));
    EXPECT_EQ(a.header.size(), 54u);
    EXPECT_EQ(wire::read<wire::Bth::PSN>(a.header.data() + 42), i);
    EXPECT_EQ(a.payload.stream, 9u);
    EXPECT_EQ(a.payload.offset, 77u);
    EXPECT_EQ(a.payload.octets, 938u);
    EXPECT_TRUE(a.icrc_pending);
  }
  EXPECT_EQ(rig.host.counters().consumed, 40u);
  EXPECT_EQ(rig.count(3).rx_packets, 40u);
  EXPECT_EQ(rig.count(3).rx_octets, 40'000u);
  EXPECT_EQ(rig.wire.pools().in_use(), 0u);
}

TEST(HostReceiving, RealPayloadIsSeen) {
  Rig rig;
  rig.send(0_us, {.frame_octets = 1000, .real = true, .stream = 5, .offset = 3});
  rig.run(10_us);
  ASSERT_EQ(rig.source.arrived.size(), 1u);
  EXPECT_TRUE(payload_matches(5, 3, rig.source.arrived[0].octets));
  EXPECT_EQ(rig.source.arrived[0].octets.size(), 938u);
}

TEST(HostReceiving, WhatIsNotForTheEndpointIsDroppedWithAReason) {
  HostConfig config = host_config();
  config.nics[0].mtu = 1500;
  Rig rig(config);
  rig.send(0_us, {.to = mac(9)});
  rig.send(1_us, {.frame_octets = 1522});
  rig.send(2_us, {.frame_octets = 1523});
  Packet* bad = rig.frame({});
  bad->flags |= Packet::kFcsBad;
  rig.wire.send(kPort, at(3_us), bad);
  rig.run(10_us);
  EXPECT_EQ(rig.drops(3, DropReason::kNotForUs), 1u);
  EXPECT_EQ(rig.drops(3, DropReason::kGiant), 1u);
  EXPECT_EQ(rig.drops(3, DropReason::kFcsError), 1u);
  EXPECT_EQ(rig.source.arrived.size(), 1u);
}

TEST(HostReceiving, WithoutAnEndpointNothingIsUnderstood) {
  Host host(DeviceId{0}, "h", host_config(), std::vector<NicDriver>(1));
  Wire wire;
  wire.connect(host, std::vector<WireLink>(1));
  wire.send(kPort, at(0_us), test::make_frame(wire.pool(), FecTable{}, {.to = mac(1)}));
  host.advance(at(10_us));
  EXPECT_EQ(host.counters().ports[0].classes[3].drops[static_cast<std::size_t>(DropReason::kNotUnderstood)], 1u);
  EXPECT_EQ(host.next(), Instant::never());
}

// ---- A host that is slow --------------------------------------------------------------------------------------------

TEST(HostSlowReceiver, TheEndpointHasAFrameWhenItsLastOctetWasTaken) {
  Rig rig(slow_config());
  for (int i = 0; i < 3; ++i) rig.send(kSlot * i);
  rig.run(1'500_ns);
  EXPECT_EQ(rig.host.counters().queued, 2u);
  rig.run(20_us);
  ASSERT_EQ(rig.source.arrived.size(), 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(rig.source.arrived[static_cast<std::size_t>(i)].at, at(kEffect + 800_ns * (i + 1)));
}

// The fourth frame is there at 0.6806 + 3 x 0.0816 us: XOFF. At 0.6806 + 2 x 0.8 us two are left: XON.
TEST(HostSlowReceiver, PausesTheFabricAndLetsItGo) {
  Rig rig(slow_config());
  for (int i = 0; i < 4; ++i) rig.send(kSlot * i);
  rig.run(20_us);
  const auto said = rig.wire.sent(kPort);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].start, at(kEffect + 3 * kSlot));
  EXPECT_EQ(said[0].pfc().enable, 1 << 3);
  EXPECT_EQ(said[0].pfc().quanta[3], 1000);
  EXPECT_EQ(wire::read<wire::Ethernet::Source>(said[0].octets.data()), mac(1));
  EXPECT_EQ(said[1].start, at(kEffect + 1'600_ns));
  EXPECT_EQ(said[1].pfc().quanta[3], 0);
  EXPECT_EQ(rig.count(3).xoff_sent, 1u);
  EXPECT_EQ(rig.count(3).xon_sent, 1u);
}

TEST(HostSlowReceiver, RepeatsItsXoffWhileItStands) {
  HostConfig config = slow_config();
  config.nics[0].receive.rate = 100_Mbps;  // 80 us a frame
  Rig rig(config);
  for (int i = 0; i < 4; ++i) rig.send(kSlot * i);
  rig.run(20_us);
  const auto said = rig.wire.sent(kPort);
  ASSERT_EQ(said.size(), 8u);  // every 2.56 us from 0.9254 us on
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(said[static_cast<std::size_t>(i)].start, at(kEffect + 3 * kSlot + 2'560_ns * i));
}

TEST(HostSlowReceiver, BeyondItsBufferFramesAreLost) {
  Rig rig(slow_config());
  for (int i = 0; i < 15; ++i) rig.send(kSlot * i);  // for each taken ten come
  rig.run(50_us);
  EXPECT_EQ(rig.drops(3, DropReason::kNicReceiveFull), 4u);  // 11 fit: one was taken at 0.6806 + 0.8 us
  EXPECT_EQ(rig.source.arrived.size(), 11u);
}

TEST(HostSlowReceiver, ALossyClassLosesFramesAndPausesNobody) {
  HostConfig config = slow_config();
  config.nics[0].receive.lossless = 1 << 3;
  Rig rig(config);
  for (int i = 0; i < 12; ++i) rig.send(kSlot * i, {.dscp = 0, .frame_octets = 1000});
  rig.run(20_us);
  // 12 frames come within a microsecond, of which the host takes the first one meanwhile: four stay below XOFF.
  EXPECT_EQ(rig.source.arrived.size(), 5u);
  EXPECT_EQ(rig.drops(0, DropReason::kNicReceiveFull), 7u);
  EXPECT_TRUE(rig.wire.sent_control(kPort).empty());
}

TEST(HostSlowReceiver, OneClassPausesWithoutTheOther) {
  Rig rig(slow_config());
  for (int i = 0; i < 3; ++i) {
    rig.send(kSlot * 2 * i, {.dscp = 24, .frame_octets = 1000});
    rig.send(kSlot * (2 * i + 1), {.dscp = 32, .frame_octets = 1000});
  }
  rig.run(20_us);
  EXPECT_TRUE(rig.wire.sent(kPort).empty()) << "3000 octets of each";
}

// ---- What a NIC answers itself --------------------------------------------------------------------------------------

TEST(HostAnswers, ArpForItsAddressOnly) {
  Rig rig;
  std::array<std::byte, 64> octets{};
  for (const char* target : {"10.0.0.1", "10.0.0.2"}) {
    const std::size_t n = wire::write_arp_request(octets, {.destination = wire::kBroadcastMac, .source = mac(2)},
                                                  ip("10.0.0.254"), ip(target));
    rig.wire.send(kPort, at(0_us), test::make_frame(rig.wire.pool(), FecTable{}, std::span(octets).first(n)));
  }
  rig.run(10_us);
  const auto sent = rig.wire.sent(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(wire::read<wire::Ethernet::Destination>(sent[0].octets.data()), mac(2));
  EXPECT_EQ(wire::read_arp(sent[0].octets.data() + 14), (wire::ArpMessage{.operation = wire::arp_operation::kReply,
                                                                          .sender_mac = mac(1),
                                                                          .sender_ip = ip("10.0.0.1"),
                                                                          .target_mac = mac(2),
                                                                          .target_ip = ip("10.0.0.254")}));
  EXPECT_EQ(sent[0].packet.frame_octets, 64u);
  EXPECT_EQ(rig.drops(0, DropReason::kNotUnderstood), 1u);
}

TEST(HostAnswers, NeighbourSolicitationsForItsAddressOnly) {
  Rig rig;
  std::array<std::byte, 128> octets{};
  for (const char* target : {"2001:db8::1", "2001:db8::2"}) {
    const std::size_t n = wire::write_neighbour_solicitation(octets, {.destination = {}, .source = mac(2)},
                                                             ip("2001:db8::fe"), ip(target));
    rig.wire.send(kPort, at(0_us), test::make_frame(rig.wire.pool(), FecTable{}, std::span(octets).first(n)));
  }
  rig.run(10_us);
  const auto sent = rig.wire.sent(kPort);
  ASSERT_EQ(sent.size(), 1u);
  const auto message = wire::parse_neighbour(sent[0].octets, sent[0].view());
  ASSERT_TRUE(message.has_value());
  EXPECT_TRUE(message->advertisement);
  EXPECT_EQ(message->target, ip("2001:db8::1"));
  EXPECT_EQ(message->link_layer, mac(1));
}

TEST(HostAnswers, Ping) {
  // 20 octets of IPv4, 8 of ICMP, 4 of data.
  std::vector<std::byte> request(14 + 32);
  {
    using namespace wire;
    std::byte* ip_header =
        write_link_header(request.data(), {.destination = mac(1), .source = mac(2)}, ether_type::kIpv4);
    write<Ipv4::Version>(ip_header, 4);
    write<Ipv4::IHL>(ip_header, 5);
    write<Ipv4::TotalLength>(ip_header, 32);
    write<Ipv4::TTL>(ip_header, 9);
    write<Ipv4::Protocol>(ip_header, ip_protocol::kIcmp);
    write<Ipv4::Source>(ip_header, ip("10.0.1.1").v4());
    write<Ipv4::Destination>(ip_header, ip("10.0.0.1").v4());
    write<Ipv4::HeaderChecksum>(ip_header, internet_checksum({ip_header, 20}));
    std::byte* icmp = ip_header + 20;
    write<Icmp::Type>(icmp, icmp_type::kEchoRequest);
    icmp[8] = std::byte{0x5A};
    write<Icmp::Checksum>(icmp, internet_checksum({icmp, 12}));
  }
  HostConfig config = host_config();
  config.fecs = std::make_shared<const FecTable>(std::vector{test::prefix("10.0.1.0/24")});
  Rig rig(config);
  const Instant effect = rig.wire.send(kPort, at(0_us), test::make_frame(rig.wire.pool(), FecTable{}, request));
  // For another address: none of ours.
  wire::write<wire::Ipv4::Destination>(request.data() + 14, ip("10.0.0.2").v4());
  wire::write<wire::Ipv4::HeaderChecksum>(request.data() + 14, 0);
  wire::write<wire::Ipv4::HeaderChecksum>(request.data() + 14, wire::internet_checksum({request.data() + 14, 20}));
  rig.wire.send(kPort, at(1_us), test::make_frame(rig.wire.pool(), FecTable{}, request));
  rig.run(10_us);
  const auto sent = rig.wire.sent(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].start, effect);
  const wire::FrameView view = sent[0].view();
  EXPECT_EQ(view.source, ip("10.0.0.1"));
  EXPECT_EQ(view.destination, ip("10.0.1.1"));
  EXPECT_EQ(view.ttl, 64);
  EXPECT_EQ(config.fecs->prefix(sent[0].packet.fec), test::prefix("10.0.1.0/24")) << "classified anew: it goes back";
  const auto icmp = std::span(sent[0].octets).subspan(34);
  EXPECT_EQ(wire::read<wire::Icmp::Type>(icmp.data()), wire::icmp_type::kEchoReply);
  EXPECT_EQ(icmp[8], std::byte{0x5A});
  EXPECT_EQ(wire::internet_checksum(icmp), 0);
  EXPECT_EQ(rig.drops(0, DropReason::kNotUnderstood), 1u);
}

TEST(HostAnswers, AnEndpointThatTakesEverythingGetsTheRest) {
  Rig rig;
  rig.source.everything = true;
  std::array<std::byte, 64> octets{};
  const std::size_t n = wire::write_arp_request(octets, {.destination = wire::kBroadcastMac, .source = mac(2)},
                                                ip("10.0.0.254"), ip("10.0.0.2"));
  rig.wire.send(kPort, at(0_us), test::make_frame(rig.wire.pool(), FecTable{}, std::span(octets).first(n)));
  rig.run(10_us);
  EXPECT_EQ(rig.source.arrived.size(), 1u);
}

}  // namespace
}  // namespace railyard
