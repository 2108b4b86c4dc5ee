#include "dataplane/nic/host.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/base/rng.h"
#include "dataplane/nic/traffic_generator.h"
#include "dataplane/wire/arp.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/icmp.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/ipv4.h"
#include "dataplane/wire/nd.h"
#include "tests/support/books.h"
#include "tests/support/wire.h"

namespace railyard {
namespace {

using namespace literals;
using test::FrameSpec;
using test::ip;
using test::mac;
using test::Sent;
using test::Wire;
using test::WireLink;

constexpr Instant at(Duration d) { return Instant{} + d; }
constexpr PortIndex kPort{0};
constexpr Priority cls(std::uint8_t c) { return Priority{c}; }

// A frame of 1000 octets at 100 Gb/s takes 81.6 ns, and arrives 80.64 ns after its start; the host takes 600 ns more.
constexpr Duration kSlot = 81'600_ps;
constexpr Duration kEffect = 680'640_ps;
constexpr Duration kQuantum = 5'120_ps;
// The frames that it sends itself have 1002 octets (a payload of 940): 81.76 ns.
constexpr Duration kOwnSlot = 81'760_ps;
constexpr Duration kPfcEffect = 5'760_ps + 394 * kQuantum;

// An endpoint that has frames without end in some classes, each of 1002 octets, and writes down what it receives.
class Source final : public Endpoint {
 public:
  Readiness ready(Instant now) override {
    ++asked;
    if (now < begins) return {0, begins};
    return {classes, Instant::never()};
  }
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override {
    if ((classes & bit(priority)) == 0) return 0;
    std::size_t n = 0;
    for (; n < frames.size() && left[priority.index()] > 0; ++n, --left[priority.index()]) {
      TxFlowConfig f;
      f.id = priority.value;
      f.source_mac = mac(1);
      f.next_hop_mac = mac(2);
      f.source = ip("10.0.0.1");
      f.destination = ip("10.0.1.1");
      f.dscp = static_cast<std::uint8_t>(priority.value * 8);
      f.priority = priority;
      f.payload = octets[priority.index()] - 62;
      if (generators[priority.index()] == nullptr)
        generators[priority.index()] = std::make_unique<TrafficGenerator>(std::vector{f}, std::vector<RxFlowConfig>{});
      generators[priority.index()]->send(now, priority, frames.subspan(n, 1));
      frames[n].flow = priority.value;
    }
    if (left[priority.index()] == 0) classes = static_cast<PriorityMask>(classes & ~bit(priority));
    return n;
  }
  bool receive(std::span<const RxFrame> frames) override {
    for (const RxFrame& f : frames) {
      Arrived a{f.at, f.sent, {f.header.begin(), f.header.end()}, f.payload, {}, f.icrc_pending};
      a.octets.assign(f.payload.real().begin(), f.payload.real().end());
      a.payload.bytes = nullptr;
      arrived.push_back(std::move(a));
    }
    ++bursts;
    return on_receive ? on_receive() : false;
  }
  bool takes_everything() const noexcept override { return everything; }

  struct Arrived {
    Instant at;
    Instant sent;
    std::vector<std::byte> header;
    PayloadRef payload;
    std::vector<std::byte> octets;
    bool icrc_pending;
    bool operator==(const Arrived& o) const { return at == o.at && sent == o.sent && header == o.header; }
  };
  PriorityMask classes = 0;
  Instant begins{};
  std::array<std::uint64_t, kPriorities> left{1u << 30, 1u << 30, 1u << 30, 1u << 30, 1u << 30, 1u << 30, 1u << 30, 1u << 30};
  std::array<std::uint32_t, kPriorities> octets{1002, 1002, 1002, 1002, 1002, 1002, 1002, 1002};
  std::array<std::unique_ptr<TrafficGenerator>, kPriorities> generators;
  std::vector<Arrived> arrived;
  std::size_t bursts = 0;
  std::size_t asked = 0;
  bool everything = false;
  std::function<bool()> on_receive;
};

HostConfig host_config(std::size_t nics = 1) {
  HostConfig c;
  for (std::size_t n = 0; n < nics; ++n) {
    NicConfig& nic = c.nics.emplace_back();
    nic.mac = mac(static_cast<std::uint8_t>(1 + n));
    nic.address_v4 = ip("10.0.0.1");
    nic.address_v4->octets[14] = static_cast<std::uint8_t>(n);
    nic.address_v6 = ip("2001:db8::1");
    nic.address_v6->octets[5] = static_cast<std::uint8_t>(n);
  }
  return c;
}

std::vector<NicDriver> drivers(std::unique_ptr<Endpoint> endpoint) {
  std::vector<NicDriver> d(1);
  d[0].endpoint = std::move(endpoint);
  return d;
}

// A host with one NIC at a bare wire.
class Rig {
 public:
  explicit Rig(HostConfig config = host_config(), WireLink link = {}) : Rig(std::move(config), std::make_unique<Source>(), link) {}
  Rig(HostConfig config, std::unique_ptr<Source> s, WireLink link)
      : source(*s), host(DeviceId{0}, "h", std::move(config), drivers(std::move(s))) {
    wire.connect(host, std::vector{link});
  }
  Packet* frame(FrameSpec spec) {
    if (spec.to == FrameSpec{}.to) spec.to = mac(1);
    if (spec.destination == FrameSpec{}.destination) spec.destination = ip("10.0.0.1");
    return test::make_frame(wire.pool(), FecTable{}, spec);
  }
  Instant send(Duration start, const FrameSpec& spec = {.frame_octets = 1000}) {
    return wire.send(kPort, at(start), frame(spec));
  }
  void pause(Duration when, PriorityMask classes, std::uint16_t quanta) {
    std::array<std::uint16_t, kPriorities> q{};
    q.fill(quanta);
    ASSERT_EQ(wire.send_pfc(kPort, at(when - kPfcEffect), classes, q), at(when));
  }
  void run(Duration until) { host.advance(at(until)); }
  std::vector<Instant> starts(std::optional<Priority> of = {}) {
    std::vector<Instant> out;
    for (const Sent& s : wire.sent_data(kPort))
      if (!of || s.packet.traffic_class_octet >> 5 == of->value) out.push_back(s.start);
    return out;
  }
  ClassCounters count(std::uint8_t c) const { return host.counters().ports[0].classes[c]; }
  std::uint64_t drops(std::uint8_t c, DropReason r) const { return count(c).drops[static_cast<std::size_t>(r)]; }

  Source& source;
  Host host;
  Wire wire;
};

// ---- Sending -------------------------------------------------------------------------------------------------------

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

// ---- ETS -----------------------------------------------------------------------------------------------------------

// Shares by octets over 2 ms, whatever the frame sizes; what an endpoint hands over at once must not show.
TEST(HostScheduling, EtsSharesFollowTheWeights) {
  struct Case {
    std::array<std::uint16_t, 3> weights;
    std::array<std::uint32_t, 3> octets;
  };
  for (const Case& c : {Case{{1, 2, 5}, {1002, 1002, 1002}}, Case{{1, 2, 5}, {66, 1002, 9002}}, Case{{1, 2, 5}, {9002, 1002, 66}},
                        Case{{50, 1, 10}, {1002, 1002, 1002}}, Case{{1, 1, 1}, {70, 70, 9002}}}) {
    HostConfig config = host_config();
    for (std::size_t i = 0; i < 3; ++i) config.nics[0].scheduling[2 + i].weight = c.weights[i];
    Rig rig(config);
    rig.source.classes = 7 << 2;
    for (std::size_t i = 0; i < 3; ++i) rig.source.octets[2 + i] = c.octets[i];
    rig.run(2_ms);
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

// ---- Being paused --------------------------------------------------------------------------------------------------

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

// ---- Receiving -----------------------------------------------------------------------------------------------------

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

// ---- A host that is slow -------------------------------------------------------------------------------------------

// The host takes 10 Gb/s, a frame of 1000 octets in 800 ns. XOFF at 4000 octets, XON at 2000, room for 10,000.
HostConfig slow_config() {
  HostConfig c = host_config();
  c.nics[0].receive = {.rate = 10_Gbps, .capacity = {10'000}, .xoff = {4'000}, .xon = {2'000}};
  c.pause_quanta = 1000;
  return c;
}

TEST(HostSlowReceiver, TheEndpointHasAFrameWhenItsLastOctetWasTaken) {
  Rig rig(slow_config());
  for (int i = 0; i < 3; ++i) rig.send(kSlot * i);
  rig.run(1'500_ns);
  EXPECT_EQ(rig.host.counters().queued, 2u);
  rig.run(20_us);
  ASSERT_EQ(rig.source.arrived.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.source.arrived[static_cast<std::size_t>(i)].at, at(kEffect + 800_ns * (i + 1)));
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
  for (int i = 0; i < 8; ++i) EXPECT_EQ(said[static_cast<std::size_t>(i)].start, at(kEffect + 3 * kSlot + 2'560_ns * i));
}

TEST(HostSlowReceiver, BeyondItsBufferFramesAreLost) {
  Rig rig(slow_config());
  for (int i = 0; i < 15; ++i) rig.send(kSlot * i);  // for each taken ten come
  rig.run(50_us);
  EXPECT_EQ(rig.drops(3, DropReason::kNicReceiveFull), 4u);  // 11 fit: one was taken at 0.6806 + 0.8 us
  EXPECT_EQ(rig.source.arrived.size(), 11u);
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

// ---- What a NIC answers itself -------------------------------------------------------------------------------------

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
    const std::size_t n =
        wire::write_neighbour_solicitation(octets, {.destination = {}, .source = mac(2)}, ip("2001:db8::fe"), ip(target));
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
    std::byte* ip_header = write_link_header(request.data(), {.destination = mac(1), .source = mac(2)}, ether_type::kIpv4);
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

// ---- Link state ----------------------------------------------------------------------------------------------------

TEST(HostLink, ANicKeepsWhatItHasUntilTheLinkIsBack) {
  Rig rig;
  rig.source.classes = 1 << 3;
  rig.host.link_down_at(at(5_us), kPort);
  rig.host.link_up_at(at(10_us), kPort);
  rig.run(20_us);
  const auto sent = rig.wire.sent(kPort);
  std::uint32_t psn = 0;
  bool again = false;
  for (const Sent& s : sent) {
    EXPECT_EQ(s.view().psn, psn++) << "nothing is lost here";
    EXPECT_TRUE(s.start < at(5_us) || s.start >= at(10_us));
    again |= s.start == at(10_us);
  }
  EXPECT_TRUE(again);
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

// ---- Several NICs --------------------------------------------------------------------------------------------------

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
  EXPECT_THROW(Host(DeviceId{0}, "h", host_config(9), std::vector<NicDriver>(9)), std::invalid_argument);
  EXPECT_THROW(Host(DeviceId{0}, "h", host_config(2), std::vector<NicDriver>(1)), std::invalid_argument);
}

// ---- A host outside ------------------------------------------------------------------------------------------------

// A ring with some room behind the NIC.
class Ring final : public Attachment {
 public:
  std::size_t take(PacketPool&, std::span<Packet*> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && !to_send.empty(); ++n) {
      packets[n] = to_send.front();
      to_send.pop_front();
    }
    return n;
  }
  std::size_t give(PacketPool& pool, std::span<Packet* const> packets) override {
    std::size_t n = 0;
    for (; n < packets.size() && room > 0; ++n, --room) {
      ++given;
      pool.release(packets[n]);
    }
    return n;
  }
  std::deque<Packet*> to_send;
  std::size_t room = 1'000'000;
  std::size_t given = 0;
};

class HostAttached : public ::testing::Test {
 protected:
  HostAttached() {
    wire.connect(host, std::vector<WireLink>(1));
    host.advance(at(1_us));
  }
  static std::vector<NicDriver> attached(std::unique_ptr<Attachment> a) {
    std::vector<NicDriver> d(1);
    d[0].attachment = std::move(a);
    return d;
  }
  static HostConfig config() {
    HostConfig c = host_config();
    c.nics[0].receive = {.rate = {}, .capacity = {10'000}, .xoff = {4'000}, .xon = {2'000}};
    return c;
  }
  // As an attachment hands them over: octets, lengths, identity, flags and home.
  Packet* outside(const FrameSpec& spec) {
    Packet* p = test::make_frame(wire.pool(), FecTable{}, spec);
    Packet raw{};
    raw.header_at = p->header_at;
    raw.header_octets = p->header_octets;
    raw.payload_octets = p->payload_octets + 4;
    raw.frame_octets = p->frame_octets;
    raw.home = p->home;
    raw.flags = static_cast<std::uint8_t>(p->flags & Packet::kRealPool);
    *p = raw;
    return p;
  }
  Ring& ring = *new Ring;
  Host host{DeviceId{0}, "h", config(), attached(std::unique_ptr<Attachment>(&ring))};
  Wire wire;
};

TEST_F(HostAttached, WhatComesFromOutsideIsSentAtTheInstantOfThePoll) {
  EXPECT_TRUE(host.polled());
  ring.to_send.push_back(outside({.dscp = 26, .frame_octets = 1000, .real = true}));
  EXPECT_EQ(host.poll(at(2_us)), at(2_us));
  EXPECT_EQ(host.next(), at(2_us));
  host.advance(at(3_us));
  const auto sent = wire.sent(kPort);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].start, at(2_us));
  EXPECT_EQ(sent[0].packet.traffic_class_octet, 26 << 2 | 2) << "parsed";
  EXPECT_EQ(host.counters().generated, 1u);
  EXPECT_EQ(host.counters().ports[0].classes[3].tx_packets, 1u);
}

TEST_F(HostAttached, ThePastIsNow) {
  ring.to_send.push_back(outside({.frame_octets = 1000, .real = true}));
  EXPECT_EQ(host.poll(at(500_ns)), at(1_us)) << "done() is later";
}

TEST_F(HostAttached, WhatIsNoFrameIsDropped) {
  Packet* p = outside({.frame_octets = 1000, .real = true});
  p->header()[14] = std::byte{0x65};  // IP version 6 in an IPv4 frame
  ring.to_send.push_back(p);
  Packet* pause = outside({.frame_octets = 64, .real = true});
  pause->header()[12] = std::byte{0x88};
  pause->header()[13] = std::byte{0x08};
  ring.to_send.push_back(pause);
  host.poll(at(2_us));
  host.advance(at(3_us));
  EXPECT_TRUE(wire.sent(kPort).empty());
  EXPECT_EQ(host.counters().ports[0].drops[static_cast<std::size_t>(DropReason::kBadVersion)], 1u);
  EXPECT_EQ(host.counters().ports[0].drops[static_cast<std::size_t>(DropReason::kBadMacControl)], 1u);
}

// When the fabric pauses a class the NIC stops taking, so that the host outside is held back without loss.
TEST_F(HostAttached, ItStopsTakingWhenTheFabricPausesIt) {
  wire.send_pfc(kPort, at(1_us), 0xFF, {9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999});
  host.advance(at(4_us));
  for (int i = 0; i < 300; ++i) ring.to_send.push_back(outside({.frame_octets = 1000, .real = true}));
  for (int i = 0; i < 50; ++i) {
    host.poll(host.done());
    host.advance(host.done() + 10_ns);
  }
  const std::size_t held = host.counters().queued;
  EXPECT_GE(held, 64u);
  EXPECT_LT(held, 64u + 16) << "a queue and one burst";
  EXPECT_EQ(ring.to_send.size(), 300 - held);
  // After the pause (51.2 us) all of them go.
  while (host.done() < at(200_us)) {
    host.poll(host.done());
    host.advance(host.done() + 1_us);
  }
  EXPECT_TRUE(ring.to_send.empty());
  EXPECT_EQ(wire.sent_data(kPort).size(), 300u);
}

TEST_F(HostAttached, AFullRingPausesTheFabric) {
  ring.room = 2;
  for (int i = 0; i < 8; ++i)
    wire.send(kPort, at(2_us + kSlot * i), test::make_frame(wire.pool(), FecTable{}, {.to = mac(1), .frame_octets = 1000}));
  host.advance(at(10_us));
  EXPECT_EQ(ring.given, 2u);
  EXPECT_EQ(host.counters().queued, 6u);
  auto said = wire.sent(kPort);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].pfc().quanta[3], 0xFFFF);
  // Room again: at 2000 octets it lets go.
  ring.room = 100;
  host.poll(at(10_us));
  host.advance(at(11_us));
  EXPECT_EQ(ring.given, 8u);
  said = wire.sent(kPort);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(10_us));
  EXPECT_EQ(said[0].pfc().quanta[3], 0);
}

TEST_F(HostAttached, BeyondTheNicsBufferFramesAreLostAndCounted) {
  ring.room = 0;
  for (int i = 0; i < 12; ++i)
    wire.send(kPort, at(2_us + kSlot * i), test::make_frame(wire.pool(), FecTable{}, {.to = mac(1), .frame_octets = 1000}));
  host.advance(at(10_us));
  EXPECT_EQ(host.counters().ports[0].classes[3].drops[static_cast<std::size_t>(DropReason::kNicReceiveFull)], 2u);
}

// ---- Slicing -------------------------------------------------------------------------------------------------------

// Sends and receives with pauses both ways, and a link that goes down; however time is cut, the same octets leave at the
// same instants and the endpoint sees the same frames.
struct Outcome {
  std::uint64_t digest;
  std::vector<Source::Arrived> arrived;
  bool operator==(const Outcome&) const = default;
};

Outcome run_sliced(bool slow, std::optional<Seed> slices) {
  HostConfig config = slow ? slow_config() : host_config();
  config.nics[0].scheduling[4].weight = 3;
  if (slow) config.nics[0].receive.capacity = {100'000};
  Rig rig(config);
  rig.host.digest_departures(true);
  rig.source.classes = 1 << 3 | 1 << 4 | 1 << 6;
  rig.source.left = {0, 0, 0, 400, 400, 0, 30, 0};
  rig.source.octets = {0, 0, 0, 1002, 302, 0, 5002, 0};
  RngStream rng(Seed{1}, "host_test/traffic");
  Duration start{};
  for (int i = 0; i < 400; ++i) {
    const auto octets = static_cast<std::uint32_t>(64 + rng.below(3000));
    rig.send(start, {.psn = static_cast<std::uint32_t>(i), .dscp = static_cast<std::uint8_t>(rng.below(64)), .frame_octets = octets});
    start += rig.wire.serialization(kPort, octets + kGapOctets);
    if (rng.below(3) == 0) start += 1_ns * static_cast<std::int64_t>(rng.below(1000));
    if (rng.below(15) == 0) {
      const auto quanta = static_cast<std::uint16_t>(rng.below(3) * 100);
      rig.wire.send_pfc(kPort, at(start), static_cast<PriorityMask>(rng.below(256)),
                        {quanta, quanta, quanta, quanta, quanta, quanta, quanta, quanta});
    }
  }
  rig.host.link_down_at(at(20_us), kPort);
  rig.host.link_up_at(at(21_us), kPort);
  RngStream cuts(slices.value_or(Seed{}), "host_test/cuts");
  while (slices && rig.host.done() < at(200_us)) {
    const Instant next = std::max(rig.host.next(), rig.host.done());
    rig.host.advance(cuts.below(3) == 0 ? next + 1_ps : next + Duration{static_cast<std::int64_t>(cuts.below(2'000'000))});
    test::expect_balanced(rig.host.counters());
  }
  rig.run(5_ms);
  EXPECT_GT(rig.host.counters().ports[0].lost, 0u);
  EXPECT_EQ(rig.count(3).tx_packets, 400u);
  return {rig.host.digest().value(), std::move(rig.source.arrived)};
}

TEST(HostSlicing, IsInvisible) {
  for (const bool slow : {false, true}) {
    const Outcome whole = run_sliced(slow, {});
    EXPECT_GT(whole.arrived.size(), 350u);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) ASSERT_EQ(run_sliced(slow, Seed{seed}), whole) << "seed " << seed;
  }
}

}  // namespace
}  // namespace railyard
