#include "dataplane/nic/traffic_generator.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/payload_pattern.h"
#include "dataplane/packet/packet.h"
#include "dataplane/wire/bth.h"
#include "dataplane/wire/checksum.h"
#include "dataplane/wire/ipv4.h"
#include "tests/support/frames.h"
#include "tests/support/instant.h"

namespace railyard {
namespace {

using namespace literals;
using test::ip;
using test::mac;

constexpr Priority kThree{3};

TxFlowConfig flow(std::uint64_t id = 1) {
  TxFlowConfig f;
  f.id = id;
  f.source_mac = mac(1);
  f.next_hop_mac = mac(2);
  f.source = ip("10.0.0.1");
  f.destination = ip("10.0.1.1");
  f.destination_qp = static_cast<std::uint32_t>(100 + id);
  return f;
}

// A frame as it left send().
struct Frame {
  Instant at;
  std::vector<std::byte> header;
  TxFrame frame;
  wire::FrameView view() const {
    return wire::parse_frame(header, header.size() + frame.payload.octets + frame.trailer_octets).value();
  }
};

std::vector<Frame> send(TrafficGenerator& g, Instant now, Priority priority, std::size_t n) {
  std::array<std::array<std::byte, kMaxHeaderOctets>, 16> room;
  std::array<TxFrame, 16> frames;
  for (std::size_t i = 0; i < n; ++i) frames[i].header = room[i].data();
  const std::size_t sent = g.send(now, priority, std::span(frames).first(n));
  EXPECT_LE(sent, n);
  std::vector<Frame> out;
  for (std::size_t i = 0; i < sent; ++i)
    out.push_back({now, {room[i].data(), room[i].data() + frames[i].header_octets}, frames[i]});
  return out;
}

// A link that takes a frame whenever it is free: the instants at which frames begin. Octets on the wire: headers,
// payload, ICRC, FCS, preamble and gap.
template <class Each>
void run(TrafficGenerator& g, Instant until, BitRate link, Each each) {
  const OctetTime time(link);
  Instant now{};
  while (now < until) {
    const Readiness r = g.ready(now);
    EXPECT_GT(r.until, now) << "later than now";
    if (r.classes == 0) {
      now = r.until;
      continue;
    }
    const Priority p{static_cast<std::uint8_t>(std::countr_zero(r.classes))};
    const std::vector<Frame> frames = send(g, now, p, 1);
    if (frames.empty()) {  // a burst or the flow has ended: then that is said
      ASSERT_EQ(g.ready(now).classes & bit(p), 0);
      continue;
    }
    each(frames[0]);
    const std::uint32_t octets = frames[0].frame.header_octets + frames[0].frame.payload.octets + 4 + 4 + 20;
    now = now + time.of(octets);
  }
}

// ---- Sending -------------------------------------------------------------------------------------------------------

TEST(TrafficGeneratorSend, FramesAreRoceOnTheWire) {
  for (const bool v4 : {true, false}) {
    TxFlowConfig f = flow();
    if (!v4) {
      f.source = ip("2001:db8::1");
      f.destination = ip("2001:db8:1::1");
    }
    f.source_port = 0xC123;
    f.dscp = 26;
    f.payload = 1024;
    TrafficGenerator g({f}, {});
    const std::vector<Frame> frames = send(g, at(0_ns), kThree, 3);
    ASSERT_EQ(frames.size(), 3u);
    for (std::uint32_t i = 0; i < 3; ++i) {
      const wire::FrameView view = frames[i].view();  // parse_frame() checks lengths and the IPv4 checksum
      EXPECT_EQ(view.source, f.source);
      EXPECT_EQ(view.destination, f.destination);
      EXPECT_EQ(view.source_port, 0xC123);
      EXPECT_EQ(view.destination_port, 4791);
      EXPECT_EQ(view.opcode, wire::roce_opcode::kUcSendOnly);
      EXPECT_EQ(view.destination_qp, 101u);
      EXPECT_EQ(view.psn, i);
      EXPECT_EQ(view.traffic_class_octet, 26 << 2 | 2);
      EXPECT_EQ(view.ttl, 64);
      EXPECT_EQ(view.header_octets, frames[i].frame.header_octets);
      EXPECT_EQ(view.ip_octets, frames[i].header.size() - 14 + 1024 + 4);
      EXPECT_EQ(wire::read<wire::Ethernet::Destination>(frames[i].header.data()), mac(2));
      EXPECT_EQ(wire::read<wire::Ethernet::Source>(frames[i].header.data()), mac(1));
      EXPECT_EQ(frames[i].frame.trailer_octets, 4);
      EXPECT_EQ(frames[i].frame.flow, 0u);
      EXPECT_EQ(frames[i].frame.payload.stream, 1u);
      EXPECT_EQ(frames[i].frame.payload.offset, i * 1024u);
      EXPECT_EQ(frames[i].frame.payload.octets, 1024u);
      EXPECT_EQ(frames[i].frame.payload.bytes, nullptr);
    }
    EXPECT_EQ(g.tx_counters(0).packets, 3u);
    EXPECT_EQ(g.tx_counters(0).payload_octets, 3072u);
    EXPECT_EQ(g.tx_counters(0).first, at(0_ns));
  }
}

TEST(TrafficGeneratorSend, NotEctIfToldSo) {
  TxFlowConfig f = flow();
  f.ect = false;
  TrafficGenerator g({f}, {});
  EXPECT_EQ(send(g, at(0_ns), kThree, 1)[0].view().traffic_class_octet, 26 << 2);
}

// The rate is on the wire: 4096 octets of payload are 54 + 4096 + 4 + 4 + 20 = 4178.
TEST(TrafficGeneratorSend, ARateIsExactOverTenSeconds) {
  for (const BitRate rate : {100_Mbps, 333_Mbps, 1_Gbps, BitRate{1'234'567'890}}) {
    TxFlowConfig f = flow();
    f.rate = rate;
    TrafficGenerator g({f}, {});
    std::uint64_t octets = 0;
    run(g, at(10_s), 100_Gbps, [&](const Frame& frame) { octets += 54u + frame.frame.payload.octets + 28u; });
    const auto expected = static_cast<double>(rate.bps);
    EXPECT_NEAR(static_cast<double>(octets) * 8 / 10, expected, expected * 1e-3);
    // Much closer, even: to a frame, and a picosecond of rounding per frame.
    EXPECT_NEAR(static_cast<double>(octets) * 8 / 10, expected, 4178 * 8 / 10.0 + expected * 1e-6);
  }
}

TEST(TrafficGeneratorSend, FlowsOfOneNicKeepTheirRatesApart) {
  std::vector<TxFlowConfig> flows;
  for (const BitRate rate : {50_Mbps, 200_Mbps, 750_Mbps}) {
    flows.push_back(flow(flows.size() + 1));
    flows.back().rate = rate;
    flows.back().payload = 256u << flows.size();
  }
  TrafficGenerator g(flows, {});
  std::array<std::uint64_t, 3> octets{};
  run(g, at(1_s), 10_Gbps, [&](const Frame& f) { octets[f.frame.flow] += 54u + f.frame.payload.octets + 28u; });
  for (std::size_t i = 0; i < 3; ++i) {
    const auto expected = static_cast<double>(flows[i].rate.bps);
    EXPECT_NEAR(static_cast<double>(octets[i]) * 8, expected, expected * 1e-3);
  }
}

// At 1 Gb/s a frame of 4178 octets is due every 33.424 us. Held back for 1 ms, a flow makes up for 8 frames, no more.
TEST(TrafficGeneratorSend, APacedFlowThatWasHeldBackMakesUpForAFewFrames) {
  TxFlowConfig f = flow();
  f.rate = 1_Gbps;
  TrafficGenerator g({f}, {});
  EXPECT_EQ(send(g, at(0_ns), kThree, 16).size(), 1u);
  EXPECT_EQ(g.ready(at(0_ns)).until, at(33'424_ns));
  EXPECT_EQ(send(g, at(33'424_ns) - 1_ps, kThree, 16).size(), 0u);
  EXPECT_EQ(send(g, at(1_ms), kThree, 16).size(), 9u) << "what is due now, and 8";
  EXPECT_GT(g.ready(at(1_ms)).until, at(1_ms));
  EXPECT_EQ(g.ready(at(1_ms)).classes, 0);
}

// At 1 Gb/s a frame of 1250 octets on the wire each 10 us; frame k comes in the k-th gap, anywhere in it.
TEST(TrafficGeneratorSend, JitterMovesFramesWithinTheirGapsAndKeepsTheRate) {
  for (const auto& [jitter, part] : {std::pair{GapJitter::kWhole, 1.0}, {GapJitter::kWhole / 4, 0.25}}) {
    TxFlowConfig f = flow();
    f.payload = 1250 - 82;
    f.rate = 1_Gbps;
    f.gap_jitter = jitter;
    f.chance = RngStream(Seed{1}, "jitter");
    TrafficGenerator g({f}, {});
    std::vector<Instant> begins;
    run(g, at(10_ms), 400_Gbps, [&](const Frame& frame) { begins.push_back(frame.at); });
    ASSERT_EQ(begins.size(), 1000u);
    EXPECT_EQ(begins[0], at(0_ns));
    double sum = 0;
    double most = 0;
    for (std::size_t k = 1; k < begins.size(); ++k) {
      const double into = static_cast<double>((begins[k] - at(10_us * static_cast<std::int64_t>(k))).ps) / 10e6;
      ASSERT_GE(into, 0.0) << k;
      // A frame that is due before the last one has gone waits for it: 25 ns at most.
      ASSERT_LT(into, part + 0.0025) << k;
      sum += into;
      most = std::max(most, into);
    }
    EXPECT_NEAR(sum / 999, part / 2, part * 0.04) << "uniform";
    EXPECT_GT(most, part * 0.98);
  }
}

TEST(TrafficGeneratorSend, ASlowerClockMakesGapsLongerByItsPartAndNoMore) {
  TxFlowConfig f = flow();
  f.payload = 1250 - 82;
  f.rate = 1_Gbps;
  f.slower_ppb = 200'000;
  TrafficGenerator g({f}, {});
  std::vector<Instant> begins;
  run(g, at(100_ms), 400_Gbps, [&](const Frame& frame) { begins.push_back(frame.at); });
  ASSERT_EQ(begins.size(), 9999u);  // 100 ms / 10.002 us = 9998.0004
  EXPECT_EQ(begins.back(), at(99'999'996_ns));
}

TEST(TrafficGeneratorSend, AFlowBeginsAndStopsAtItsInstants) {
  TxFlowConfig f = flow();
  f.start = at(100_us);
  f.stop = at(200_us);
  f.rate = 10_Gbps;
  TrafficGenerator g({f}, {});
  EXPECT_EQ(g.ready(at(0_ns)).classes, 0);
  EXPECT_EQ(g.ready(at(0_ns)).until, at(100_us));
  std::vector<Instant> starts;
  run(g, at(1_ms), 100_Gbps, [&](const Frame& frame) { starts.push_back(frame.at); });
  EXPECT_EQ(starts.front(), at(100_us));
  EXPECT_LT(starts.back(), at(200_us));
  EXPECT_EQ(starts.size(), 30u);  // every 3.3424 us: 29.9
  EXPECT_EQ(g.ready(at(1_ms)).until, Instant::never());
}

TEST(TrafficGeneratorSend, StopAtEndsAllFlows) {
  TxFlowConfig f = flow();
  f.rate = 10_Gbps;
  TrafficGenerator g({f, flow(2)}, {});
  g.stop_at(at(10_us));
  Instant last{};
  run(g, at(1_ms), 100_Gbps, [&](const Frame& frame) { last = frame.at; });
  EXPECT_LT(last, at(10_us));
  EXPECT_GT(last, at(9_us));
}

// On for 10 us, off for 30: at 100 Gb/s a frame each 334.24 ns, 30 in a burst (29.92 fit begun before its end).
TEST(TrafficGeneratorSend, OnAndOff) {
  TxFlowConfig f = flow();
  f.start = at(5_us);
  f.on = 10_us;
  f.off = 30_us;
  TrafficGenerator g({f}, {});
  std::map<std::int64_t, int> bursts;
  run(g, at(405_us), 100_Gbps, [&](const Frame& frame) {
    const Duration into = frame.at - at(5_us);
    EXPECT_LT(into.ps % (40_us).ps, (10_us).ps) << "while it rests";
    if (bursts[into / 40_us]++ == 0) {
      EXPECT_EQ(into.ps % (40_us).ps, 0) << "a burst begins at once";
    }
  });
  ASSERT_EQ(bursts.size(), 10u);
  for (const auto& [number, frames] : bursts) EXPECT_EQ(frames, 30) << number;
}

// 10,000 octets: 4096 + 4096 + 1808.
// At 1 Gb/s a frame of 1250 octets on the wire each 10 us: ten in each burst, none of them sooner to make up for the
// rest.
TEST(TrafficGeneratorSend, APacedFlowBeginsEveryBurstAtItsRate) {
  TxFlowConfig f = flow();
  f.payload = 1250 - 82;
  f.rate = 1_Gbps;
  f.on = 100_us;
  f.off = 300_us;
  TrafficGenerator g({f}, {});
  std::vector<Instant> begins;
  run(g, at(1600_us), 100_Gbps, [&](const Frame& frame) { begins.push_back(frame.at); });
  ASSERT_EQ(begins.size(), 40u);
  for (std::size_t i = 0; i < 40; ++i)
    EXPECT_EQ(begins[i], at(400_us * static_cast<std::int64_t>(i / 10) + 10_us * static_cast<std::int64_t>(i % 10)));
}

TEST(TrafficGeneratorSend, AFiniteFlowEndsWithAShortFrame) {
  for (const bool v4 : {true, false}) {
    TxFlowConfig f = flow();
    if (!v4) {
      f.source = ip("2001:db8::1");
      f.destination = ip("2001:db8:1::1");
    }
    f.total = {10'000};
    TrafficGenerator g({f}, {});
    const std::vector<Frame> frames = send(g, at(0_ns), kThree, 8);
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[2].frame.payload.octets, 1808u);
    EXPECT_EQ(frames[2].frame.payload.offset, 8192u);
    const wire::FrameView view = frames[2].view();
    EXPECT_EQ(view.ip_octets, (v4 ? 20u : 40u) + 8 + 12 + 1808 + 4);
    EXPECT_EQ(view.psn, 2u);
    EXPECT_EQ(g.ready(at(0_ns)).classes, 0);
    EXPECT_EQ(g.ready(at(0_ns)).until, Instant::never());
    EXPECT_EQ(g.tx_counters(0).payload_octets, 10'000u);
  }
}

TEST(TrafficGeneratorSend, AFlowOfWholeFramesHasNoShortOne) {
  TxFlowConfig f = flow();
  f.total = {8192};
  TrafficGenerator g({f}, {});
  EXPECT_EQ(send(g, at(0_ns), kThree, 8).size(), 2u);
}

TEST(TrafficGeneratorSend, FlowsOfAClassTakeTurns) {
  TrafficGenerator g({flow(1), flow(2), flow(3)}, {});
  std::vector<std::uint32_t> order;
  for (const std::size_t n : {2u, 1u, 6u})  // in whatever portions
    for (const Frame& f : send(g, at(0_ns), kThree, n)) order.push_back(f.frame.flow);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(TrafficGeneratorSend, EachClassHasItsFlows) {
  TxFlowConfig other = flow(2);
  other.priority = Priority{5};
  TrafficGenerator g({flow(1), other}, {});
  EXPECT_EQ(g.ready(at(0_ns)).classes, 1 << 3 | 1 << 5);
  for (const Frame& f : send(g, at(0_ns), Priority{5}, 3)) EXPECT_EQ(f.frame.flow, 1u);
  for (const Frame& f : send(g, at(0_ns), kThree, 3)) EXPECT_EQ(f.frame.flow, 0u);
  EXPECT_TRUE(send(g, at(0_ns), Priority{4}, 3).empty());
}

TEST(TrafficGeneratorSend, WhatWasAskedForTellsTheConfiguration) {
  TrafficGenerator g({flow(1), flow(9)}, {});
  EXPECT_EQ(g.tx_flows(), 2u);
  EXPECT_EQ(g.tx_config(1).id, 9u);
}

// ---- Another rate --------------------------------------------------------------------------------------------------

// The instants at which `g` begins frames on an idle link, with rates that change between them.
std::vector<Instant> instants(TrafficGenerator& g, Instant until, const std::map<Instant, BitRate>& rates) {
  std::vector<Instant> begun;
  auto next = rates.begin();
  for (Instant now{}; now < until;) {
    const Instant change = next == rates.end() ? Instant::never() : next->first;
    if (now == change) g.set_rate(now, 0, (next++)->second);
    const Readiness r = g.ready(now);
    if (r.classes != 0) {
      for (const Frame& f : send(g, now, kThree, 1)) begun.push_back(f.at);
      if (g.ready(now).classes != 0) {
        now = std::min(now + 1_us, next == rates.end() ? Instant::never() : next->first);
        continue;
      }
    }
    now = std::min(g.ready(now).until, next == rates.end() ? Instant::never() : next->first);
  }
  return begun;
}

// A frame of 1028 octets of payload takes 1110 on the wire: 8.88 us at 1 Gb/s.
TxFlowConfig paced() {
  TxFlowConfig f = flow();
  f.payload = 1028;
  f.rate = 1_Gbps;
  return f;
}

TEST(TrafficGeneratorRate, TheNextFrameComesOneNewIntervalAfterTheLast) {
  TrafficGenerator g({paced()}, {});
  const auto begun = instants(g, at(40_us), {{at(10_us), 2_Gbps}});
  // At 0 and 8.88; the next, due at 17.76, comes at 13.32, and so on every 4.44.
  ASSERT_GE(begun.size(), 5u);
  EXPECT_EQ(begun[1], at(8'880_ns));
  EXPECT_EQ(begun[2], at(13'320_ns));
  EXPECT_EQ(begun[3], at(17'760_ns));
}

TEST(TrafficGeneratorRate, WhatWouldHaveBeenDueAlreadyComesAtOnceAndIsNotMadeUpFor) {
  TrafficGenerator g({paced()}, {});
  const auto begun = instants(g, at(20_us), {{at(8_us), 10_Gbps}});
  EXPECT_EQ(begun[1], at(8_us));
  EXPECT_EQ(begun[2], at(8'888_ns));
}

TEST(TrafficGeneratorRate, GreedyAndBack) {
  TrafficGenerator g({paced()}, {});
  const auto begun = instants(g, at(30_us), {{at(5_us), BitRate{}}, {at(10_us), 1_Gbps}});
  // Greedy: whenever it is asked, here every microsecond.
  EXPECT_EQ(std::count_if(begun.begin(), begun.end(), [](Instant i) { return i >= at(5_us) && i < at(10_us); }), 5);
  EXPECT_EQ(std::count_if(begun.begin(), begun.end(), [](Instant i) { return i >= at(10_us); }), 3);
}

TEST(TrafficGeneratorRate, AtRestItStaysAtRestAndBeforeItsStartItWaits) {
  TxFlowConfig f = paced();
  f.start = at(20_us);
  f.on = 10_us;
  f.off = 90_us;
  TrafficGenerator g({f}, {});
  const auto begun = instants(g, at(130_us), {{at(5_us), 2_Gbps}, {at(60_us), 4_Gbps}});
  EXPECT_EQ(begun, (std::vector{at(20_us), at(24'440_ns), at(28'880_ns), at(120_us), at(122'220_ns), at(124'440_ns),
                                at(126'660_ns), at(128'880_ns)}));
}

TEST(TrafficGeneratorRate, AFlowThatIsOverStaysOver) {
  TxFlowConfig f = paced();
  f.total = {2056};
  TrafficGenerator g({f}, {});
  EXPECT_EQ(instants(g, at(100_us), {{at(30_us), 4_Gbps}}).size(), 2u);
}

// ---- Receiving -----------------------------------------------------------------------------------------------------

// Frames of flow 7, DestQP 107, 1024 octets each, as they would arrive; each may be spoilt first.
class TrafficGeneratorReceive : public ::testing::Test {
 protected:
  TrafficGeneratorReceive() {
    TxFlowConfig f = flow(7);
    f.payload = 1024;
    TrafficGenerator sender({f}, {});
    for (int i = 0; i < 2; ++i)
      for (Frame& frame : send(sender, at(0_ns), kThree, 10)) frames.push_back(std::move(frame));
  }
  // `real`: with octets, else elided.
  void receive(std::size_t i, bool real = false, Instant when = at(5_us), Instant sent = at(2_us)) {
    receive_at(receiver, i, real, when, sent);
  }
  void receive_at(TrafficGenerator& to, std::size_t i, bool real = false, Instant when = at(5_us),
                  Instant sent = at(2_us)) {
    std::vector<std::byte> octets(1024);
    PayloadRef payload = frames[i].frame.payload;
    if (real) {
      fill_payload(payload.stream, payload.offset, octets);
      if (spoil_octet) octets[*spoil_octet] ^= std::byte{0x10};
      payload = {0, 0, 1024, octets.data()};
    }
    const RxFrame frame{when, sent, frames[i].header, payload, true};
    EXPECT_FALSE(to.receive({&frame, 1})) << "nothing is answered";
  }
  const RxFlowCounters& counters() { return *receiver.rx_counters(7); }

  std::vector<Frame> frames;
  TrafficGenerator receiver{{}, {{.id = 3, .destination_qp = 90}, {.id = 7, .destination_qp = 107, .payload = 1024}}};
  std::optional<std::size_t> spoil_octet;
};

TEST_F(TrafficGeneratorReceive, CountsWhatArrives) {
  for (std::size_t i = 0; i < 10; ++i) receive(i, i % 2 == 0, at(5_us + 1_us * static_cast<std::int64_t>(i)));
  EXPECT_EQ(counters().packets, 10u);
  EXPECT_EQ(counters().payload_octets, 10'240u);
  EXPECT_EQ(counters().duplicated, 0u);
  EXPECT_EQ(counters().reordered, 0u);
  EXPECT_EQ(counters().corrupted, 0u);
  EXPECT_EQ(counters().marked, 0u);
  EXPECT_EQ(counters().first, at(5_us));
  EXPECT_EQ(counters().last, at(14_us));
  EXPECT_EQ(counters().latency.count(), 10u);
  EXPECT_EQ(counters().latency.min(), static_cast<std::uint64_t>((3_us).ps));
  EXPECT_EQ(counters().latency.max(), static_cast<std::uint64_t>((12_us).ps));
  EXPECT_EQ(receiver.rx_counters(3)->packets, 0u);
  EXPECT_EQ(receiver.rx_counters(8), nullptr);
}

TEST_F(TrafficGeneratorReceive, LossReorderingAndDuplicates) {
  for (const std::size_t i : {0u, 1u, 4u, 3u, 4u, 5u}) receive(i);
  EXPECT_EQ(counters().packets, 6u);
  EXPECT_EQ(counters().payload_octets, 5 * 1024u) << "a duplicate does not count twice";
  EXPECT_EQ(counters().duplicated, 1u);
  EXPECT_EQ(counters().reordered, 1u);
  EXPECT_EQ(counters().corrupted, 0u);
}

TEST_F(TrafficGeneratorReceive, MarksOfBothFamilies) {
  frames[1].header[15] |= std::byte{3};
  for (std::size_t i = 0; i < 3; ++i) receive(i);
  EXPECT_EQ(counters().marked, 1u);

  TxFlowConfig f = flow(7);
  f.source = ip("2001:db8::1");
  f.destination = ip("2001:db8:1::1");
  f.payload = 1024;
  TrafficGenerator sender({f}, {});
  frames = send(sender, at(0_ns), kThree, 8);
  frames[4].header[15] |= std::byte{0x30};  // the traffic class begins four bits into the header
  TrafficGenerator v6_receiver({}, {{.id = 7, .destination_qp = 107, .payload = 1024}});
  for (std::size_t i = 0; i < 8; ++i) receive_at(v6_receiver, i);
  EXPECT_EQ(v6_receiver.rx_counters(7)->marked, 1u);
  EXPECT_EQ(v6_receiver.rx_counters(7)->payload_octets, 8 * 1024u);
}

TEST_F(TrafficGeneratorReceive, AnotherIdentityOfElidedPayloadIsCorruption) {
  frames[1].frame.payload.stream = 8;
  frames[2].frame.payload.offset += 4;
  frames[3].frame.payload.offset -= 1024;  // the frame before it under another PSN
  for (std::size_t i = 0; i < 5; ++i) receive(i);
  EXPECT_EQ(counters().corrupted, 3u);
}

TEST_F(TrafficGeneratorReceive, OneWrongOctetOfRealPayloadIsCorruption) {
  for (const std::size_t octet : {std::size_t{0}, std::size_t{511}, std::size_t{1023}}) {
    spoil_octet = octet;
    receive(octet % 8, true);
  }
  EXPECT_EQ(counters().corrupted, 2u);  // 511 % 8 = 1023 % 8: the third is a duplicate and not looked at
  EXPECT_EQ(counters().duplicated, 1u);
}

TEST_F(TrafficGeneratorReceive, FramesOfNoExpectedFlowAreCountedApart) {
  for (const std::uint32_t qp : {89u, 91u, 106u, 108u, 0xFFFFFFu}) {
    wire::write<wire::Bth::DestQP>(frames[0].header.data() + 42, qp);
    receive(0);
  }
  frames[1].header.resize(50);  // cut off within the BTH
  receive(1);
  EXPECT_EQ(receiver.unexpected(), 6u);
  EXPECT_EQ(counters().packets, 0u);
}

}  // namespace
}  // namespace railyard
