// How a host sends: when, what, in which order, and when it may not.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/ipv6.h"
#include "dataplane/wire/udp.h"
#include "dataplane/wire/uet_entropy.h"
#include "tests/dataplane/nic/host_rig.h"
#include "tests/support/books.h"

namespace railyard {
namespace {

// ---- Sending --------------------------------------------------------------------------------------------------------

TEST(HostSending, AsFastAsTheLinkTakesThem) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.run(10_us);
  const auto starts = rig.starts();
  ASSERT_EQ(starts.size(), 123u);  // 10 us / 81.76 ns = 122.3
  for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_EQ(starts[i], at(kOwnSlot * static_cast<std::int64_t>(i)));
}

TEST(HostSending, FramesAreDescribedAsTheEdgeWouldAndStampedWhenTheyStart) {
  HostConfig config = host_config();
  config.fecs = std::make_shared<const FecTable>(std::vector{test::prefix("10.0.0.0/24"), test::prefix("10.0.1.0/24")});
  Rig rig(config);
  rig.source.classes = 1 << 3;
  rig.source.left[3] = 10;
  rig.run(10_us);
  const auto sent = rig.wire.sent(kPort);
  ASSERT_EQ(sent.size(), 10u);
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Packet& p = sent[i].packet;
    const wire::FrameView view = sent[i].view();
    EXPECT_EQ(view.psn, i);
    EXPECT_EQ(p.kind, FrameKind::kIpv4);
    EXPECT_EQ(p.frame_octets, 1002u);
    EXPECT_EQ(p.payload_octets, 940u);
    EXPECT_EQ(p.header_octets, 54);
    EXPECT_EQ(p.l3_offset, 14);
    EXPECT_EQ(p.traffic_class_octet, view.traffic_class_octet);
    EXPECT_EQ(p.transport_hash, std::uint32_t{view.source_port} << 16 | view.destination_port);
    EXPECT_EQ(config.fecs->prefix(p.fec), test::prefix("10.0.1.0/24"));
    EXPECT_EQ(p.stream, 3u);
    EXPECT_EQ(p.offset, i * 940u);
    EXPECT_EQ(p.sent, sent[i].start) << "not when it was taken from the endpoint";
    EXPECT_EQ(p.flags, Packet::kElided | Packet::kIcrcPending);
  }
  EXPECT_EQ(rig.host.counters().generated, 10u);
}

TEST(HostSending, RealPayloadIsWritten) {
  HostConfig config = host_config();
  config.real_payload = true;
  Rig rig(config);
  rig.source.classes = 1 << 3;
  rig.source.left[3] = 3;
  rig.run(10_us);
  for (const Sent& s : rig.wire.sent(kPort)) {
    EXPECT_FALSE(s.packet.has(Packet::kElided));
    ASSERT_EQ(s.octets.size(), 54u + 940);
    EXPECT_TRUE(payload_matches(s.packet.stream, s.packet.offset, std::span(s.octets).subspan(54)));
  }
}

// An endpoint that has a flow per frame, each to a QP of its own: numbers of flows go on and on.
class ManyFlows final : public Endpoint {
 public:
  explicit ManyFlows(std::vector<std::uint32_t> flows) : flows_(std::move(flows)) {}
  Readiness ready(Instant) override { return {static_cast<PriorityMask>(next_ < flows_.size() ? 1 << 3 : 0)}; }
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override {
    std::size_t n = 0;
    for (; n < frames.size() && next_ < flows_.size(); ++n, ++next_) {
      TxFlowConfig f;
      f.source_mac = mac(1);
      f.next_hop_mac = mac(2);
      f.source = ip("10.0.0.1");
      f.destination = ip("10.0.1.1");
      f.destination_qp = 7 + flows_[next_];
      f.payload = 64;
      TrafficGenerator(std::vector{f}, {}).send(now, priority, frames.subspan(n, 1));
      frames[n].flow = flows_[next_];
    }
    return n;
  }
  bool receive(std::span<const RxFrame>) override { return false; }

 private:
  std::vector<std::uint32_t> flows_;
  std::size_t next_ = 0;
};

// UET packets to one destination, all of one flow (or none), each with another entropy value.
class Spraying final : public Endpoint {
 public:
  Spraying(bool v4, bool udp, std::uint32_t flow) : v4_(v4), udp_(udp), flow_(flow) {}
  Readiness ready(Instant) override { return {static_cast<PriorityMask>(left_ > 0 ? 1 << 3 : 0)}; }
  std::size_t send(Instant, Priority, std::span<TxFrame> frames) override {
    std::size_t n = 0;
    for (; n < frames.size() && left_ > 0; ++n, --left_) write(frames[n], static_cast<std::uint16_t>(left_ * 0x0703));
    return n;
  }
  bool receive(std::span<const RxFrame>) override { return false; }

 private:
  void write(TxFrame& frame, std::uint16_t entropy) const {
    constexpr std::size_t kInner = 12;
    std::byte* const ip_header = frame.header + wire::Ethernet::kOctets;
    const std::size_t ip_octets = v4_ ? std::size_t{wire::Ipv4::kOctets} : std::size_t{wire::Ipv6::kOctets};
    const std::size_t l4_octets = udp_ ? std::size_t{wire::Udp::kOctets} : std::size_t{wire::UetEntropy::kOctets};
    const std::uint8_t protocol = udp_ ? wire::ip_protocol::kUdp : wire::ip_protocol::kUetNative;
    std::fill_n(frame.header, wire::Ethernet::kOctets + ip_octets + l4_octets + kInner, std::byte{0});
    wire::write<wire::Ethernet::Destination>(frame.header, mac(2));
    wire::write<wire::Ethernet::Source>(frame.header, mac(1));
    wire::write<wire::Ethernet::EtherType>(frame.header, v4_ ? wire::ether_type::kIpv4 : wire::ether_type::kIpv6);
    std::byte* const l4 = ip_header + ip_octets;
    const auto behind_ip = static_cast<std::uint16_t>(l4_octets + kInner);
    if (v4_) {
      wire::write<wire::Ipv4::Version>(ip_header, 4);
      wire::write<wire::Ipv4::IHL>(ip_header, 5);
      wire::write<wire::Ipv4::TotalLength>(ip_header, static_cast<std::uint16_t>(ip_octets + behind_ip));
      wire::write<wire::Ipv4::TTL>(ip_header, 64);
      wire::write<wire::Ipv4::Protocol>(ip_header, protocol);
      wire::write<wire::Ipv4::Source>(ip_header, ip("10.0.0.1").v4());
      wire::write<wire::Ipv4::Destination>(ip_header, ip("10.0.1.1").v4());
      wire::write<wire::Ipv4::HeaderChecksum>(ip_header, wire::internet_checksum({ip_header, ip_octets}));
    } else {
      wire::write<wire::Ipv6::Version>(ip_header, 6);
      wire::write<wire::Ipv6::PayloadLength>(ip_header, behind_ip);
      wire::write<wire::Ipv6::NextHeader>(ip_header, protocol);
      wire::write<wire::Ipv6::HopLimit>(ip_header, 64);
      wire::write<wire::Ipv6::Source>(ip_header, ip("2001:db8::1"));
      wire::write<wire::Ipv6::Destination>(ip_header, ip("2001:db8:1::1"));
    }
    wire::write<wire::UetEntropy::Entropy>(l4, entropy);
    if (udp_) {
      wire::write<wire::Udp::DestinationPort>(l4, wire::kUetPort);
      wire::write<wire::Udp::Length>(l4, behind_ip);
    }
    frame.header_octets = static_cast<std::uint16_t>(wire::Ethernet::kOctets + ip_octets + behind_ip);
    frame.trailer_octets = 0;
    frame.flow = flow_;
    frame.payload = {};
  }

  bool v4_;
  bool udp_;
  std::uint32_t flow_;
  std::uint32_t left_ = 20;
};

TEST(HostSending, UetPacketsOfAFlowAreDescribedWithTheirOwnEntropy) {
  HostConfig config = host_config();
  config.fecs =
      std::make_shared<const FecTable>(std::vector{test::prefix("10.0.1.0/24"), test::prefix("2001:db8:1::/48")});
  for (const bool v4 : {true, false})
    for (const bool udp : {true, false}) {
      const auto sent_by = [&](std::uint32_t flow) {
        std::vector<NicDriver> driver(1);
        driver[0].endpoint = std::make_unique<Spraying>(v4, udp, flow);
        Host host(DeviceId{0}, "h", config, std::move(driver));
        Wire wire;
        wire.connect(host, std::vector{WireLink{}});
        host.advance(at(10_us));
        return wire.sent(kPort);
      };
      const auto each = sent_by(TxFrame::kNoFlow), one_flow = sent_by(5);
      ASSERT_EQ(each.size(), 20u);
      ASSERT_EQ(one_flow.size(), 20u);
      std::set<std::uint32_t> entropies;
      for (std::size_t i = 0; i < each.size(); ++i) {
        const Packet& a = each[i].packet;
        const Packet& b = one_flow[i].packet;
        EXPECT_EQ(a.entropy, b.entropy);
        EXPECT_EQ(a.transport_hash, b.transport_hash);
        EXPECT_EQ(a.address_hash, b.address_hash);
        EXPECT_EQ(a.fec, b.fec);
        EXPECT_EQ(a.kind, b.kind);
        EXPECT_EQ(a.l3_offset, b.l3_offset);
        EXPECT_EQ(a.header_octets, b.header_octets);
        EXPECT_EQ(a.flags, b.flags);
        entropies.insert(b.entropy);
      }
      EXPECT_EQ(entropies.size(), 20u);
    }
}

// What is known of a flow is not taken for another's, though its memory is bounded: some share a place.
TEST(HostSending, FlowsThatShareAPlaceInMemoryAreToldApart) {
  const std::vector<std::uint32_t> flows{1, 16385, 1, 32769, 16385, 16385, 0xFFFF'0001, 2, 1};
  std::vector<NicDriver> driver(1);
  driver[0].endpoint = std::make_unique<ManyFlows>(flows);
  Host host(DeviceId{0}, "h", host_config(), std::move(driver));
  Wire wire;
  wire.connect(host, std::vector{WireLink{}});
  host.advance(at(10_us));
  const auto sent = wire.sent(kPort);
  ASSERT_EQ(sent.size(), flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) EXPECT_EQ(sent[i].packet.entropy, (7 + flows[i]) & 0xFFFFFF) << i;
}

TEST(HostSending, AnEndpointIsAskedWhenItSaid) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.source.left[3] = 2;
  rig.source.begins = at(7_us);
  EXPECT_EQ(rig.host.advance(at(1_us)), at(7_us));
  EXPECT_LE(rig.source.asked, 2u) << "not again and again";
  rig.run(20_us);
  EXPECT_EQ(rig.starts(), (std::vector{at(7_us), at(7_us + kOwnSlot)}));
}

// Keys of events are made anew when their base moves, every 70 s: an endpoint's timer must survive it.
TEST(HostSending, AnEndpointMayWaitForMinutes) {
  for (const Duration begins : {50_s, 71_s, 150_s, 300_s}) {
    Rig rig;
    rig.source.classes = 1 << 3;
    rig.source.left[3] = 2;
    rig.source.begins = at(begins);
    rig.run(400_s);
    EXPECT_EQ(rig.starts(), (std::vector{at(begins), at(begins + kOwnSlot)}));
  }
}

TEST(HostSending, WhatTheEndpointReceivesMayMakeItReady) {
  Rig rig;
  rig.source.left[3] = 1;
  rig.source.on_receive = [&] { return rig.source.classes = 1 << 3, true; };
  const Instant effect = rig.send(1_us);
  rig.run(20_us);
  EXPECT_EQ(rig.starts(), (std::vector{effect}));
}

// ---- ETS ------------------------------------------------------------------------------------------------------------

// Shares by octets over 2 ms, whatever the frame sizes; what an endpoint hands over at once must not show.
TEST(HostScheduling, EtsSharesFollowTheWeights) {
  struct Case {
    std::array<std::uint16_t, 3> weights;
    std::array<std::uint32_t, 3> octets;
  };
  for (const Case& c :
       {Case{{1, 2, 5}, {1002, 1002, 1002}}, Case{{1, 2, 5}, {66, 1002, 9002}}, Case{{1, 2, 5}, {9002, 1002, 66}},
        Case{{50, 1, 10}, {1002, 1002, 1002}}, Case{{1, 1, 1}, {70, 70, 9002}}}) {
    HostConfig config = host_config();
    for (std::size_t i = 0; i < 3; ++i) config.nics[0].scheduling[2 + i].weight = c.weights[i];
    Rig rig(config);
    rig.source.classes = 7 << 2;
    for (std::size_t i = 0; i < 3; ++i) rig.source.octets[2 + i] = c.octets[i];
    for (Duration t{}; t < 2_ms; t += 100_us) {
      rig.run(t + 100_us);
      rig.wire.sent(kPort);  // the packets are wanted again
    }
    std::array<double, 3> share{};
    double total = 0;
    double weights = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      share[i] = static_cast<double>(rig.count(static_cast<std::uint8_t>(2 + i)).tx_octets);
      total += share[i];
      weights += c.weights[i];
    }
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(share[i] / total, c.weights[i] / weights, 0.01 * c.weights[i] / weights)
          << "class " << i << ", weights " << c.weights[0] << ':' << c.weights[1] << ':' << c.weights[2];
  }
}

TEST(HostScheduling, StrictComesFirst) {
  HostConfig config = host_config();
  config.nics[0].scheduling[6].strict = true;
  Rig rig(config);
  rig.source.classes = 1 << 3 | 1 << 6;
  rig.source.left[6] = 50;
  rig.run(50 * kOwnSlot);
  EXPECT_EQ(rig.count(6).tx_packets, 50u);
  EXPECT_EQ(rig.count(3).tx_packets, 0u);
  rig.run(60 * kOwnSlot);
  EXPECT_EQ(rig.count(3).tx_packets, 10u);
}

// ---- Being paused ---------------------------------------------------------------------------------------------------

TEST(HostPfc, AClassIsHeldAndTheOthersAreNot) {
  Rig rig;
  rig.source.classes = 1 << 3 | 1 << 4;
  rig.pause(5_us, 1 << 3, 1000);  // 5.12 us
  rig.run(20_us);
  const auto three_sent = rig.wire.sent_data(kPort);
  std::vector<Instant> three;
  std::vector<Instant> four;
  for (const Sent& s : three_sent) (s.packet.traffic_class_octet >> 5 == 3 ? three : four).push_back(s.start);
  for (const Instant t : three) EXPECT_TRUE(t < at(5_us) || t >= at(10'120_ns)) << t.ps;
  // Alone, class 4 has the whole link: a frame each slot.
  std::size_t in_pause = 0;
  for (const Instant t : four) in_pause += t >= at(5_us) && t < at(10'120_ns);
  EXPECT_NEAR(static_cast<double>(in_pause), 5'120 / 81.76, 1.01);
  EXPECT_EQ(rig.count(3).paused, 5'120_ns);
  EXPECT_EQ(rig.count(4).paused, 0_ps);
  EXPECT_EQ(rig.count(3).xoff_received, 1u);
}

TEST(HostPfc, SendingGoesOnAtTheExpiryOrTheXon) {
  {
    Rig rig;
    rig.source.classes = 1 << 3;
    rig.source.begins = at(6_us);
    rig.pause(5_us, 1 << 3, 1000);
    rig.run(20_us);
    EXPECT_EQ(rig.starts().front(), at(10'120_ns));
  }
  {
    Rig rig;
    rig.source.classes = 1 << 3;
    rig.source.begins = at(6_us);
    rig.pause(5_us, 1 << 3, 0xFFFF);
    rig.pause(8_us, 1 << 3, 0);
    rig.run(20_us);
    EXPECT_EQ(rig.starts().front(), at(8_us));
  }
}

TEST(HostPfc, APausedClassTakesNothingFromItsEndpoint) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.pause(5_us, 1 << 3, 0xFFFF);
  rig.run(20_us);
  const std::uint64_t sent = rig.count(3).tx_packets;
  const std::uint64_t taken = (1u << 30) - rig.source.left[3];
  EXPECT_LE(taken - sent, 8u) << "what had been taken when the pause came";
}

// ---- Link state -----------------------------------------------------------------------------------------------------

// It goes on as if it were sent, at the rate of the link.
TEST(HostLink, WhatANicSendsWithoutALinkIsDropped) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.host.link_down_at(at(5_us), kPort);
  rig.host.link_up_at(at(10_us), kPort);
  rig.run(20_us);
  const std::uint64_t dropped = rig.count(3).drops[static_cast<std::size_t>(DropReason::kLinkDown)];
  EXPECT_NEAR(static_cast<double>(dropped), 5'000 / 81.76, 1.01);
  std::uint32_t psn = 0;
  bool again = false;
  for (const Sent& s : rig.wire.sent(kPort)) {
    EXPECT_TRUE(s.start < at(5_us) || s.start >= at(10_us));
    if (s.start >= at(10_us) && !again) {
      EXPECT_LT(s.start, at(10_us) + kOwnSlot);
      psn += static_cast<std::uint32_t>(dropped);
      again = true;
    }
    EXPECT_EQ(s.view().psn, psn++);
  }
  EXPECT_TRUE(again);
  test::expect_balanced(rig.host.counters());
}

TEST(HostLink, AnEndpointIsAskedWithoutALinkWhenItWantsTo) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.source.begins = at(7_us);
  rig.host.link_down_at(at(5_us), kPort);
  rig.run(10_us);
  EXPECT_NEAR(static_cast<double>(rig.count(3).drops[static_cast<std::size_t>(DropReason::kLinkDown)]), 3'000 / 81.76,
              1.01);
  EXPECT_EQ(rig.count(3).tx_packets, 0u);
}

TEST(HostLink, PausesEndWithTheLink) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.pause(3_us, 1 << 3, 0xFFFF);
  rig.host.link_down_at(at(5_us), kPort);
  rig.host.link_up_at(at(10_us), kPort);
  rig.run(20_us);
  EXPECT_EQ(rig.count(3).paused, 2_us);
  EXPECT_GT(rig.count(3).tx_packets, 100u);
}

// ---- Several NICs ---------------------------------------------------------------------------------------------------

TEST(HostNics, EachHasItsOwnLinkEndpointAndPauses) {
  std::vector<NicDriver> two(2);
  std::array<Source*, 2> sources{};
  for (std::size_t i = 0; i < 2; ++i) {
    auto s = std::make_unique<Source>();
    s->classes = 1 << 3;
    sources[i] = s.get();
    two[i].endpoint = std::move(s);
  }
  Host host(DeviceId{0}, "h", host_config(2), std::move(two));
  Wire wire;
  wire.connect(host, std::vector{WireLink{.rate = 100_Gbps}, WireLink{.rate = 25_Gbps}});
  wire.send_pfc(kPort, at(3_us), 1 << 3, {0, 0, 0, 0xFFFF});  // takes effect at 5.023 us
  wire.send(PortIndex{1}, at(0_us), test::make_frame(wire.pool(), FecTable{}, {.to = mac(2)}));
  host.advance(at(10_us));
  // 5.023 us / 81.76 ns = 61.4; 10 us / 327.04 ns = 30.6.
  EXPECT_EQ(wire.sent(kPort).size(), 62u);
  EXPECT_EQ(wire.sent(PortIndex{1}).size(), 31u);
  EXPECT_TRUE(sources[0]->arrived.empty());
  EXPECT_EQ(sources[1]->arrived.size(), 1u);
}

TEST(HostNics, WhatCannotBeIsRefused) {
  EXPECT_THROW(Host(DeviceId{0}, "h", HostConfig{}, {}), std::invalid_argument);
  EXPECT_THROW(Host(DeviceId{0}, "h", host_config(kMaxNics + 1), std::vector<NicDriver>(kMaxNics + 1)), std::invalid_argument);
  EXPECT_THROW(Host(DeviceId{0}, "h", host_config(2), std::vector<NicDriver>(1)), std::invalid_argument);
}

}  // namespace
}  // namespace railyard
