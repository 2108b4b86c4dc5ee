// What a switch answers itself (dataplane/switch/local_delivery.cc).
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/wire/arp.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/echo.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/icmpv6.h"
#include "dataplane/wire/icmpv6_message.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/nd.h"
#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

using Octets = std::vector<std::byte>;

Octets arp_request(PortIndex from, const wire::IpAddress& sender, const wire::IpAddress& target) {
  Octets octets(64);
  octets.resize(
      wire::write_arp_request(octets, {.destination = wire::kBroadcastMac, .source = peer_of(from)}, sender, target));
  return octets;
}

Octets solicitation(PortIndex from, const wire::IpAddress& sender, const wire::IpAddress& target) {
  Octets octets(128);
  octets.resize(
      wire::write_neighbour_solicitation(octets, {.destination = {}, .source = peer_of(from)}, sender, target));
  return octets;
}

// An echo request of `payload` octets behind the ICMP header.
Octets ping(PortIndex from, const wire::IpAddress& source, const wire::IpAddress& destination,
            std::size_t payload = 56) {
  using namespace wire;
  Octets octets(2000);
  const LinkHeader link{.destination = mac_of(from), .source = peer_of(from)};
  std::byte* message = nullptr;
  std::byte* end = nullptr;
  if (source.is_v4()) {
    std::byte* ip = write_link_header(octets.data(), link, ether_type::kIpv4);
    const std::size_t total = Ipv4::kOctets + Icmp::kOctets + payload;
    write<Ipv4::Version>(ip, 4);
    write<Ipv4::IHL>(ip, 5);
    write<Ipv4::TotalLength>(ip, static_cast<std::uint16_t>(total));
    write<Ipv4::TTL>(ip, 64);
    write<Ipv4::Protocol>(ip, ip_protocol::kIcmp);
    write<Ipv4::Source>(ip, source.v4());
    write<Ipv4::Destination>(ip, destination.v4());
    write<Ipv4::HeaderChecksum>(ip, internet_checksum({ip, Ipv4::kOctets}));
    message = ip + Ipv4::kOctets;
    end = ip + total;
    write<Icmp::Type>(message, icmp_type::kEchoRequest);
  } else {
    message = begin_icmpv6(octets, link, {.source = source, .destination = destination}, Icmpv6::kOctets + payload);
    end = message + Icmpv6::kOctets + payload;
    write<Icmpv6::Type>(message, icmpv6_type::kEchoRequest);
  }
  write<Icmp::Identifier>(message, 0x1234);
  write<Icmp::SequenceNumber>(message, 9);
  for (std::size_t i = 0; i < payload; ++i) message[8 + i] = static_cast<std::byte>(i);
  const std::span<std::byte> whole{message, end};
  if (source.is_v4())
    write<Icmp::Checksum>(message, internet_checksum(whole));
  else
    finish_icmpv6(whole, {.source = source, .destination = destination});
  octets.resize(static_cast<std::size_t>(end - octets.data()));
  return octets;
}

std::span<const std::byte> message_of(const Sent& s) { return std::span(s.octets).subspan(s.view().l4_offset); }

void expect_addressed_to_peer(const Sent& s, PortIndex out) {
  EXPECT_EQ(wire::read<wire::Ethernet::Destination>(s.octets.data()), peer_of(out));
  EXPECT_EQ(wire::read<wire::Ethernet::Source>(s.octets.data()), mac_of(out));
}

// ---- ICMP errors ---------------------------------------------------------------------------------------------------

// TTL 1, elided and real, with and without a pending ICRC, of both families: the loopback says so to the source.
TEST(SwitchIcmpErrors, TimeExceededComesFromTheLoopbackToTheSource) {
  for (const bool real : {false, true}) {
    for (const bool v4 : {true, false}) {
      SwitchRig rig;
      FrameSpec spec{
          .source = v4 ? host(kIn) : host6(kIn), .destination = v4 ? host(kOut) : host6(kOut), .ttl = 1, .real = real};
      rig.send(kIn, 0_ns, spec);
      rig.run(10_us);
      EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kTtlExpired), 1u);
      EXPECT_TRUE(rig.wire.sent(kOut).empty());
      const auto sent = rig.wire.sent(kIn);
      ASSERT_EQ(sent.size(), 1u) << "real " << real << ", v4 " << v4;
      const wire::FrameView view = sent[0].view();
      EXPECT_EQ(view.source, v4 ? kLoopback : kLoopback6);
      EXPECT_EQ(view.destination, spec.source);
      expect_addressed_to_peer(sent[0], kIn);
      const auto message = message_of(sent[0]);
      if (v4) {
        EXPECT_EQ(view.protocol, wire::ip_protocol::kIcmp);
        EXPECT_EQ(wire::read<wire::Icmp::Type>(message.data()), wire::icmp_type::kTimeExceeded);
        EXPECT_EQ(wire::internet_checksum(message), 0);
      } else {
        EXPECT_EQ(view.protocol, wire::ip_protocol::kIcmpv6);
        EXPECT_EQ(wire::read<wire::Icmpv6::Type>(message.data()), wire::icmpv6_type::kTimeExceeded);
        EXPECT_EQ(wire::transport_checksum(view.source, view.destination, wire::ip_protocol::kIcmpv6, message), 0);
      }
      // It quotes the packet as it came: 28 octets of ICMP and IPv4, then the original's IP header with TTL 1.
      EXPECT_EQ(message[8 + (v4 ? 8 : 7)], std::byte{1});
    }
  }
}

TEST(SwitchIcmpErrors, TtlTwoIsEnough) {
  SwitchRig rig;
  rig.send(kIn, 0_ns, {.destination = host(kOut), .ttl = 2});
  rig.send(kIn, 1_us, {.destination = host(kOut), .ttl = 0});
  rig.run(10_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u);
  EXPECT_EQ(rig.drops(DropReason::kTtlExpired), 1u);
}

TEST(SwitchIcmpErrors, APacketTooBigForTheEgressLinkIsAnsweredWithItsMtu) {
  for (const bool v4 : {true, false}) {
    SwitchConfig config = switch_config(2);
    config.ports[1].mtu = 1400;
    SwitchRig rig(config);
    FrameSpec spec{.source = v4 ? host(kIn) : host6(kIn), .destination = v4 ? host(kOut) : host6(kOut)};
    spec.frame_octets = 1400 + 18;
    rig.send(kIn, 0_ns, spec);
    spec.frame_octets = 1401 + 18;
    rig.send(kIn, 1_us, spec);
    rig.run(10_us);
    EXPECT_EQ(rig.wire.sent(kOut).size(), 1u) << "1400 octets of IP fit";
    EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kTooBig), 1u);
    const auto sent = rig.wire.sent(kIn);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].view().source, v4 ? kLoopback : kLoopback6);
    EXPECT_EQ(sent[0].view().destination, spec.source);
    const std::byte* message = message_of(sent[0]).data();
    if (v4) {
      EXPECT_EQ(wire::read<wire::Icmp::Type>(message), wire::icmp_type::kDestinationUnreachable);
      EXPECT_EQ(wire::read<wire::Icmp::Code>(message), wire::icmp_unreachable::kFragmentationNeeded);
      EXPECT_EQ(wire::read<wire::Icmp::NextHopMtu>(message), 1400);
    } else {
      EXPECT_EQ(wire::read<wire::Icmpv6::Type>(message), wire::icmpv6_type::kPacketTooBig);
      EXPECT_EQ(wire::read<wire::Icmpv6::Mtu>(message), 1400u);
    }
  }
}

// The tag does not count: 1400 octets of IP fit in 1422.
TEST(SwitchIcmpErrors, TheMtuIsOfTheIpPacket) {
  SwitchConfig config = switch_config(2);
  for (SwitchPortConfig& p : config.ports) {
    p.mtu = 1400;
    p.vlans.allow_tagged(10);
  }
  SwitchRig rig(config);
  rig.send(kIn, 0_ns, {.destination = host(kOut), .tag = VlanTag{.vid = 10}, .frame_octets = 1422});
  rig.run(10_us);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u);
}

// As the switch at the far end of a tagged link hands it on to hosts of that VLAN only.
TEST(SwitchIcmpErrors, AreSaidInTheVlanOfWhatTheyAreAbout) {
  SwitchConfig config = switch_config(3);
  config.ports[0].vlans.allow_tagged(10);
  config.ports[1].vlans = VlanMembership(10);
  config.ports[2].vlans = VlanMembership(20);
  SwitchRig rig(config);
  rig.send(kIn, 0_ns, {.destination = host(kOut), .ttl = 1, .tag = VlanTag{.vid = 10}});
  rig.send(kIn, 1_us, {.destination = host(kOut), .ttl = 1, .tag = VlanTag{.vid = 11}});
  rig.send(kOther, 2_us, {.source = host(kIn, 2), .destination = host(kOut), .ttl = 1});
  rig.run(10_us);
  EXPECT_EQ(rig.drops(DropReason::kTtlExpired), 3u);
  EXPECT_EQ(rig.drops(DropReason::kVlanNotMember), 1u) << "what is said of a frame in VLAN 20 has no way out by kIn";
  const auto sent = rig.wire.sent(kIn);
  ASSERT_EQ(sent.size(), 1u) << "nothing is said to VLAN 11, of which kIn is no member";
  EXPECT_TRUE(sent[0].packet.has(Packet::kTagged));
  EXPECT_EQ(sent[0].view().vid, 10);
}

TEST(SwitchIcmpErrors, WithoutALoopbackNobodySaysAnything) {
  SwitchConfig config = switch_config(2);
  config.loopback_v4.reset();
  SwitchRig rig(config);
  rig.send(kIn, 0_ns, {.destination = host(kOut), .ttl = 1});
  rig.run(10_us);
  EXPECT_TRUE(rig.wire.sent(kIn).empty());
  EXPECT_EQ(rig.drops(DropReason::kTtlExpired), 1u);
}

// RFC 1812 §4.3.2.8: 64 at once, then one per millisecond. All 100 frames come within 100 us; then one each 0.5 ms.
TEST(SwitchIcmpErrors, AreLimited) {
  SwitchRig rig;
  for (int i = 0; i < 100; ++i) rig.send(kIn, 1_us * i, {.destination = host(kOut), .ttl = 1});
  rig.run(1_ms);
  EXPECT_EQ(rig.wire.sent(kIn).size(), 64u);
  for (int i = 0; i < 20; ++i) rig.send(kIn, 1100_us + 500_us * i, {.destination = host(kOut), .ttl = 1});
  rig.run(20_ms);
  EXPECT_EQ(rig.wire.sent(kIn).size(), 10u);
  EXPECT_EQ(rig.drops(DropReason::kTtlExpired), 120u) << "with or without an answer";
}

// ---- ARP and neighbour discovery -----------------------------------------------------------------------------------

TEST(SwitchArp, AnswersForWhateverItKnowsAWayTo) {
  SwitchRig rig;
  rig.send_octets(kIn, 0_ns, arp_request(kIn, host(kIn), host(kOut)));      // behind another port: proxy ARP
  rig.send_octets(kIn, 1_us, arp_request(kIn, host(kIn), host(kIn, 254)));  // the gateway
  rig.send_octets(kIn, 2_us, arp_request(kIn, host(kIn), kLoopback));
  rig.run(10_us);
  const auto sent = rig.wire.sent(kIn);
  ASSERT_EQ(sent.size(), 3u);
  const wire::IpAddress asked[] = {host(kOut), host(kIn, 254), kLoopback};
  for (std::size_t i = 0; i < 3; ++i) {
    expect_addressed_to_peer(sent[i], kIn);
    EXPECT_EQ(sent[i].packet.frame_octets, 64u);
    const wire::ArpMessage arp = wire::read_arp(sent[i].octets.data() + 14);
    EXPECT_EQ(arp, (wire::ArpMessage{.operation = wire::arp_operation::kReply,
                                     .sender_mac = mac_of(kIn),
                                     .sender_ip = asked[i],
                                     .target_mac = peer_of(kIn),
                                     .target_ip = host(kIn)}));
  }
}

TEST(SwitchArp, DoesNotAnswerForTheAskersOwnSideNorForTheUnknown) {
  SwitchRig rig;
  rig.send_octets(kIn, 0_ns, arp_request(kIn, host(kIn, 1), host(kIn, 2)));
  rig.send_octets(kIn, 1_us, arp_request(kIn, host(kIn), test::ip("172.16.0.1")));
  rig.send_octets(kIn, 2_us, arp_request(kIn, host(kIn), host(kIn)));             // announces itself
  rig.send_octets(kIn, 3_us, arp_request(kIn, test::ip("0.0.0.0"), host(kOut)));  // looks for duplicates (RFC 5227)
  rig.run(10_us);
  EXPECT_TRUE(rig.wire.sent(kIn).empty());
  EXPECT_EQ(rig.sw.counters().consumed, 4u);
}

TEST(SwitchNeighbourDiscovery, AnswersForWhateverItKnowsAWayTo) {
  SwitchRig rig;
  rig.send_octets(kIn, 0_ns, solicitation(kIn, host6(kIn), host6(kOut)));
  rig.send_octets(kIn, 1_us, solicitation(kIn, host6(kIn), host6(kIn, 254)));
  rig.send_octets(kIn, 2_us, solicitation(kIn, host6(kIn), host6(kIn, 2)));               // on its own side
  rig.send_octets(kIn, 3_us, solicitation(kIn, host6(kIn), test::ip("2001:db8:99::1")));  // unknown
  rig.run(10_us);
  const auto sent = rig.wire.sent(kIn);
  ASSERT_EQ(sent.size(), 2u);
  const wire::IpAddress asked[] = {host6(kOut), host6(kIn, 254)};
  for (std::size_t i = 0; i < 2; ++i) {
    expect_addressed_to_peer(sent[i], kIn);
    const auto message = wire::parse_neighbour(sent[i].octets, sent[i].view());
    ASSERT_TRUE(message.has_value()) << name(message.error());
    EXPECT_TRUE(message->advertisement);
    EXPECT_TRUE(message->solicited);
    EXPECT_EQ(message->target, asked[i]);
    EXPECT_EQ(message->link_layer, mac_of(kIn));
    EXPECT_EQ(sent[i].view().destination, host6(kIn));
  }
}

// ---- Ping ----------------------------------------------------------------------------------------------------------

TEST(SwitchPing, TheLoopbackAnswers) {
  for (const bool v4 : {true, false}) {
    SwitchRig rig;
    const Octets request = ping(kIn, v4 ? host(kIn) : host6(kIn), v4 ? kLoopback : kLoopback6);
    rig.send_octets(kIn, 0_ns, request);
    rig.run(10_us);
    const auto sent = rig.wire.sent(kIn);
    ASSERT_EQ(sent.size(), 1u);
    expect_addressed_to_peer(sent[0], kIn);
    const wire::FrameView view = sent[0].view();
    EXPECT_EQ(view.source, v4 ? kLoopback : kLoopback6);
    EXPECT_EQ(view.destination, v4 ? host(kIn) : host6(kIn));
    EXPECT_EQ(view.ttl, 64);
    const auto message = message_of(sent[0]);
    EXPECT_EQ(wire::read<wire::Icmp::Type>(message.data()),
              v4 ? wire::icmp_type::kEchoReply : wire::icmpv6_type::kEchoReply);
    EXPECT_TRUE(std::equal(message.begin() + 4, message.end(), request.end() - 60))
        << "identifier, sequence number, data";
    EXPECT_EQ(v4 ? wire::internet_checksum(message)
                 : wire::transport_checksum(view.source, view.destination, wire::ip_protocol::kIcmpv6, message),
              0);
    const DeviceCounters c = rig.sw.counters();
    EXPECT_EQ(c.consumed, 1u);
    EXPECT_EQ(c.generated, 1u);
  }
}

TEST(SwitchPing, TheReplyIsRoutedLikeAnyPacket) {
  SwitchRig rig;
  rig.send_octets(kIn, 0_ns, ping(kIn, host(port(2)), kLoopback));  // from behind another port
  rig.run(10_us);
  EXPECT_TRUE(rig.wire.sent(kIn).empty());
  const auto sent = rig.wire.sent(port(2));
  ASSERT_EQ(sent.size(), 1u);
  expect_addressed_to_peer(sent[0], port(2));
}

TEST(SwitchPing, TheReplyIsInTheVlanOfTheRequest) {
  SwitchConfig config = switch_config(3);
  config.ports[0].vlans = VlanMembership(10);
  config.ports[2].vlans.allow_tagged(10);
  SwitchRig rig(config);
  rig.send_octets(kIn, 0_ns, ping(kIn, host(kOther), kLoopback));
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOther);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].view().vid, 10);
}

TEST(SwitchPing, OtherTrafficToTheLoopbackIsNotUnderstood) {
  SwitchRig rig;
  rig.send(kIn, 0_ns, {.destination = kLoopback});
  rig.run(10_us);
  EXPECT_EQ(rig.drops(kIn, cls(3), DropReason::kNotUnderstood), 1u);
}

TEST(SwitchPing, AReplyThatHasNoWayBackIsDroppedAndCounted) {
  SwitchRig rig;
  rig.send_octets(kIn, 0_ns, ping(kIn, test::ip("172.16.0.1"), kLoopback));
  rig.run(10_us);
  EXPECT_EQ(rig.drops(DropReason::kNoRoute), 1u);
  EXPECT_EQ(rig.sw.counters().generated, 1u);
}

}  // namespace
}  // namespace railyard
