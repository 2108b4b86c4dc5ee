// When frames leave a switch: to the picosecond.
#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

struct Rates {
  BitRate in;
  BitRate out;
};

// One frame of `octets` whose transmission begins at 0; when the switch begins to send it.
Instant departure(ForwardingMode mode, Rates rates, std::uint32_t octets, Duration propagation = {}) {
  SwitchConfig config = switch_config(2);
  config.mode = mode;
  SwitchRig rig(config, {{.rate = rates.in, .propagation = propagation}, {.rate = rates.out}});
  rig.send(kIn, 0_ns, {.destination = host(kOut), .frame_octets = octets});
  rig.run(1_ms);
  const auto sent = rig.wire.sent(kOut);
  EXPECT_EQ(sent.size(), 1u);
  return sent.at(0).start;
}

// Per octet: 80 ps at 100 Gb/s, 20 ps at 400, 320 ps at 25. The pipeline takes 600 ns.
constexpr Rates kEqual{100_Gbps, 100_Gbps};
constexpr Rates kFastToSlow{400_Gbps, 100_Gbps};
constexpr Rates kSlowToFast{100_Gbps, 400_Gbps};

// Preamble and frame, 1008 octets, then the pipeline.
TEST(SwitchTiming, StoreAndForwardWaitsForTheTail) {
  constexpr auto kMode = ForwardingMode::kStoreAndForward;
  EXPECT_EQ(departure(kMode, kEqual, 1000), at(80'640_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kFastToSlow, 1000), at(20'160_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kSlowToFast, 1000), at(80'640_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kEqual, 64), at(5'760_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kEqual, 1000, 150_ns), at(80'640_ps + 150_ns + 600_ns));
}

// Preamble and 128 octets, then the pipeline: 136 octets. A frame that is no longer has no tail to wait for.
TEST(SwitchTiming, CutThroughWaitsForTheHeader) {
  constexpr auto kMode = ForwardingMode::kCutThrough;
  EXPECT_EQ(departure(kMode, kEqual, 1000), at(10'880_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kEqual, 9216), at(10'880_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kEqual, 1000, 150_ns), at(10'880_ps + 150_ns + 600_ns));
  EXPECT_EQ(departure(kMode, kEqual, 128), at(10'880_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kEqual, 64), at(5'760_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kFastToSlow, 1000), at(2'720_ps + 600_ns)) << "136 octets of 20 ps";
}

// The egress link would run dry: transmission begins so that its end is not before the tail's arrival. In at 100 Gb/s
// the tail is there after 1008 x 80 ps = 80.64 ns; out at 400 Gb/s takes 1008 x 20 ps = 20.16 ns; so at 60.48 ns, and
// 600.
TEST(SwitchTiming, CutThroughToAFasterLinkWaitsForAsMuchOfTheTailAsItMust) {
  constexpr auto kMode = ForwardingMode::kCutThrough;
  EXPECT_EQ(departure(kMode, kSlowToFast, 1000), at(60'480_ps + 600_ns));
  // 129 octets: the tail at 137 x 80 = 10.96 ns less 137 x 20 = 2.74 ns is before the header at 10.88 ns.
  EXPECT_EQ(departure(kMode, kSlowToFast, 129), at(10'880_ps + 600_ns));
  // Equal when 60 (n + 8) = 136 x 80, that is n = 173.33: 173 octets do not wait, 174 do, for 40 ps.
  EXPECT_EQ(departure(kMode, kSlowToFast, 173), at(10'880_ps + 600_ns));
  EXPECT_EQ(departure(kMode, kSlowToFast, 174), at(10'920_ps + 600_ns));
  EXPECT_EQ(departure(kMode, {25_Gbps, 100_Gbps}, 1000), at(1008 * (320_ps - 80_ps) + 600_ns));
}

// While a frame waits for its tail others pass it; the order does not depend on where time is cut.
TEST(SwitchTiming, AFrameThatWaitsForItsTailIsOvertakenHoweverTimeIsCut) {
  const auto run = [](std::vector<Duration> cuts) {
    SwitchConfig config = switch_config(3);
    config.mode = ForwardingMode::kCutThrough;
    SwitchRig rig(config, {{.rate = 100_Gbps}, {.rate = 400_Gbps}, {.rate = 100_Gbps}});
    rig.send(kIn, 0_ns, {.destination = host(kOut), .psn = 1, .frame_octets = 9216});      // startable at 1153.44 + ...
    rig.send(port(2), 10_ns, {.destination = host(kOut), .psn = 2, .frame_octets = 100});  // whole at 618.64 ns
    rig.send(port(2), 700_ns, {.destination = host(kOut), .psn = 3, .frame_octets = 100});
    for (const Duration cut : cuts) {
      rig.run(cut);
      test::expect_balanced(rig.sw.counters());
    }
    rig.run(10_us);
    std::vector<std::pair<std::uint32_t, Instant>> order;
    for (const Sent& s : rig.wire.sent(kOut)) order.push_back({s.view().psn, s.start});
    return order;
  };
  // 9224 x (80 - 20) ps = 553.44 ns and the pipeline; 108 x 80 ps = 8.64 ns, 10 ns and the pipeline; ...
  const std::vector<std::pair<std::uint32_t, Instant>> expected{
      {2, at(618'640_ps)}, {1, at(1'153'440_ps)}, {3, at(1'308'640_ps + 31'360_ps - 2'320_ps)}};
  const auto whole = run({});
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(whole[0], expected[0]);
  EXPECT_EQ(whole[1], expected[1]);
  // The long frame keeps the port until 1153.44 + 9236 x 20 ps = 1338.16 ns.
  EXPECT_EQ(whole[2], (std::pair<std::uint32_t, Instant>{3, at(1'153'440_ps + 9236 * 20_ps)}));
  for (const Duration cut : {610'880_ps, 610'881_ps, 700_ns, 1'153'440_ps, 1'153'441_ps}) EXPECT_EQ(run({cut}), whole);
  EXPECT_EQ(run({605_ns, 611_ns, 619_ns, 900_ns, 1200_ns, 1310_ns}), whole);
}

TEST(SwitchTiming, AFrameThatWaitsForItsTailIsHeldByTheSwitch) {
  SwitchConfig config = switch_config(2);
  config.mode = ForwardingMode::kCutThrough;
  SwitchRig rig(config, {{.rate = 100_Gbps}, {.rate = 400_Gbps}});
  rig.send(kIn, 0_ns, {.destination = host(kOut), .frame_octets = 9216});
  rig.run(900_ns);
  EXPECT_EQ(rig.sw.counters().queued, 1u);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 0u) << "not admitted yet";
  EXPECT_EQ(rig.sw.next(), at(1'153'440_ps));
  rig.run(1200_ns);
  EXPECT_EQ(rig.sw.counters().queued, 0u);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 36u);
}

// Store and forward, busy port: back to back, with the gap: 1020 octets = 81.6 ns.
TEST(SwitchTiming, QueuedFramesLeaveBackToBack) {
  SwitchRig rig;
  for (const PortIndex in : {kIn, port(2)})
    for (int i = 0; i < 10; ++i) rig.send(in, 81'600_ps * i, {.destination = host(kOut), .frame_octets = 1000});
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 20u);
  for (std::size_t i = 0; i < sent.size(); ++i)
    EXPECT_EQ(sent[i].start, at(680'640_ps + 81'600_ps * static_cast<std::int64_t>(i)));
}

// Two links of 100 Gb/s into one: every 81.6 ns two frames come and one goes. Just before the m-th departure after the
// first ends, 2 m frames have come and m - 1 are gone, so (m + 1) are there.
TEST(SwitchTiming, AQueueGrowsByWhatCannotLeave) {
  SwitchRig rig;
  constexpr int kFrames = 200;
  for (const PortIndex in : {kIn, port(2)})
    for (int i = 0; i < kFrames; ++i) rig.send(in, 81'600_ps * i, {.destination = host(kOut), .frame_octets = 1000});
  std::vector<std::uint64_t> depths;
  for (int m = 1; m <= kFrames; ++m)
    rig.sw.snapshot_at(at(680'640_ps + 81'600_ps * m), [&](DeviceCounters c) {
      depths.push_back(c.ports[1].classes[3].depth_octets);
      EXPECT_EQ(c.buffer_cells, depths.back() / 1000 * 4) << "1000 octets in cells of 256";
      test::expect_balanced(c);
    });
  rig.run(100_us);
  for (std::uint64_t m = 1; m <= kFrames; ++m) EXPECT_EQ(depths[m - 1], (m + 1) * 1000);
  EXPECT_EQ(rig.count(kOut, cls(3)).max_depth_octets, (kFrames + 1) * 1000u);
  EXPECT_EQ(rig.count(kOut, cls(3)).depth_octets, 0u);
}

// engine.md §2: transmissions start after all other events of the instant, in port order. A frame of high priority that
// arrives at the very instant at which the port becomes free goes first.
TEST(SwitchTiming, WhatArrivesAtTheInstantOfADepartureTakesPart) {
  SwitchConfig config = switch_config(4);
  for (SwitchPortConfig& p : config.ports) p.classes[6].scheduling.strict = true;
  SwitchRig rig(config);
  rig.send(kIn, 0_ns, {.destination = host(kOut), .psn = 1, .frame_octets = 1000});
  rig.send(port(2), 10_ns, {.destination = host(kOut), .psn = 2, .frame_octets = 1000});
  // Takes effect at 680.64 + 81.6 ns, when the first frame's transmission ends.
  rig.send(port(3), 81'600_ps, {.destination = host(kOut), .psn = 3, .dscp = 48, .frame_octets = 1000});
  rig.run(10_us);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[1].view().psn, 3u);
  EXPECT_EQ(sent[1].start, at(680'640_ps + 81'600_ps));
  EXPECT_EQ(sent[2].view().psn, 2u);
}

TEST(SwitchTiming, CellsAreFreeWhenTheLastOctetHasLeft) {
  SwitchRig rig;
  rig.send(kIn, 0_ns, {.destination = host(kOut), .frame_octets = 1000});
  rig.run(680'640_ps + 81'600_ps);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 4u);
  EXPECT_EQ(rig.wire.sent(kOut).size(), 1u);
  rig.run(680'640_ps + 81'600_ps + 1_ps);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 0u);
}

// ---- Slicing -------------------------------------------------------------------------------------------------------

// Everything at once: congestion, marks, pauses in both directions, spraying, pings, time exceeded, links going down.
// However time is cut, the same octets leave at the same instants.
std::uint64_t digest_of(ForwardingMode mode, std::optional<Seed> slices, Tap* tap) {
  SwitchConfig config = switch_config(5);
  config.mode = mode;
  config.buffer.size = 600_KiB;
  for (SwitchPortConfig& p : config.ports) {
    p.classes[3].buffer = {.lossless = true, .alpha = {-2}, .headroom = 20_KiB, .xon_offset = 5_KiB};
    p.classes[4].ecn = {.enabled = true, .kmin = 2_KB, .kmax = 50_KB, .pmax_ppm = 900'000};
    p.classes[5].ecn = {.enabled = true, .kmin = 2_KB, .kmax = 50_KB, .pmax_ppm = 900'000, .at_dequeue = true};
    p.classes[6].scheduling.strict = true;
    p.classes[4].scheduling.weight = 3;
  }
  config.routes[6].ports = {port(1), port(2), port(3)};  // 10.0.3.0/24
  config.paths.by_class[0].policy = config.paths.by_class[4].policy = PathPolicy::kSpray;
  config.seed = Seed{7};
  SwitchRig rig(config,
                {{.rate = 100_Gbps}, {.rate = 25_Gbps}, {.rate = 100_Gbps}, {.rate = 400_Gbps}, {.rate = 100_Gbps}});
  rig.sw.digest_departures(true);
  rig.sw.tap(port(1), tap);
  RngStream rng(Seed{1}, "switch_timing_test/traffic");
  for (std::uint16_t p = 0; p < 5; ++p) {
    Duration start{};
    for (std::uint32_t i = 0; i < 300; ++i) {
      FrameSpec spec{.destination = host(port(static_cast<std::uint16_t>(rng.below(4)))), .psn = i};
      spec.dscp = static_cast<std::uint8_t>(rng.below(64));
      spec.ecn = static_cast<wire::Ecn>(rng.below(4));
      spec.source_port = static_cast<std::uint16_t>(0xC000 + rng.below(8));
      spec.frame_octets = static_cast<std::uint32_t>(rng.below(4) == 0 ? 64 + rng.below(200) : 1000 + rng.below(8000));
      if (rng.below(50) == 0) spec.ttl = 1;
      start += rig.wire.serialization(port(p), spec.frame_octets + kGapOctets);
      if (rng.below(3) == 0) start += 1_ns * static_cast<std::int64_t>(rng.below(500));
      rig.send(port(p), start, spec);
      if (rng.below(20) == 0) {
        const auto quanta = static_cast<std::uint16_t>(rng.below(3) * 300);
        rig.wire.send_pfc(port(p), at(start), static_cast<PriorityMask>(rng.below(256)),
                          {quanta, quanta, quanta, quanta, quanta, quanta, quanta, quanta});
      }
    }
  }
  rig.sw.link_down_at(at(40_us), port(2));
  rig.sw.link_up_at(at(55_us), port(2));
  RngStream cuts(slices.value_or(Seed{}), "switch_timing_test/cuts");
  while (slices && rig.sw.done() < at(300_us)) {
    const Instant next = std::max(rig.sw.next(), rig.sw.done());
    rig.sw.advance(cuts.below(3) == 0 ? next + 1_ps
                                      : next + Duration{static_cast<std::int64_t>(cuts.below(3'000'000))});
    EXPECT_TRUE(rig.sw.counters().balanced());
  }
  rig.run(1_ms);
  EXPECT_GT(rig.count(port(1), cls(4)).ecn_marked, 5u);
  EXPECT_GT(rig.count(port(1), cls(5)).ecn_marked, 5u);
  EXPECT_GT(rig.count(kIn, cls(3)).xoff_sent, 0u);
  EXPECT_GT(rig.drops(DropReason::kLinkDown), 0u);
  EXPECT_GT(rig.drops(DropReason::kTtlExpired), 0u);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 0u);
  return rig.sw.digest().value();
}

class NoTap final : public Tap {
 public:
  void see(Instant, const Packet&, const TapNote&) override {}
};

TEST(SwitchSlicing, IsInvisible) {
  for (const ForwardingMode mode : {ForwardingMode::kStoreAndForward, ForwardingMode::kCutThrough}) {
    const std::uint64_t whole = digest_of(mode, {}, nullptr);
    for (std::uint64_t seed = 1; seed <= 8; ++seed) ASSERT_EQ(digest_of(mode, Seed{seed}, nullptr), whole) << seed;
  }
}

TEST(SwitchSlicing, NobodySeesThatSomebodyLooks) {
  NoTap tap;
  for (const ForwardingMode mode : {ForwardingMode::kStoreAndForward, ForwardingMode::kCutThrough})
    EXPECT_EQ(digest_of(mode, {}, &tap), digest_of(mode, {}, nullptr));
}

// ---- Long runs -----------------------------------------------------------------------------------------------------

// Event keys are made anew when their base moves, every 2^46 ps (70 s). What is under way then: a transmission over a
// slow link, a pause, and a standing XOFF of the switch's own.
TEST(SwitchTiming, WhatIsUnderWayWhenTheBaseOfEventKeysMovesGoesOn) {
  constexpr Duration kBaseMoves{std::int64_t{1} << 46};
  SwitchConfig config = switch_config(4);
  for (SwitchPortConfig& p : config.ports)
    p.classes[3].buffer = {.lossless = true, .xoff = 1_KiB, .headroom = 100_KiB, .xon_offset = {}};
  SwitchRig rig(config, {{.rate = 1_Gbps}, {.rate = 1_Gbps}, {.rate = 1_Gbps}, {.rate = 1_Gbps}});
  // At 1 Gb/s 9000 octets take 72 us. The one frame is being sent, the other held by a pause of 33 ms.
  const Duration start = kBaseMoves - 100_us;
  rig.wire.send_pfc(port(3), at(start - 1_ms), 1 << 3, {0, 0, 0, 0xFFFF});
  rig.send(kIn, start, {.destination = host(kOut), .dscp = 0, .frame_octets = 9000});
  rig.send(port(2), start, {.destination = host(port(3)), .frame_octets = 9000});
  rig.run(kBaseMoves + 1_s);
  const auto sent = rig.wire.sent(kOut);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].start, at(start + 9008 * 8_ns + 600_ns));
  const auto held = rig.wire.sent(port(3));
  ASSERT_EQ(held.size(), 1u);
  // The pause frame took effect 72 octets and two quanta of 512 ns after its start.
  EXPECT_EQ(held[0].start, at(start - 1_ms + 72 * 8_ns + 1024_ns + 65535 * 512_ns));
  // XOFF to the sender of the held frame at 1.03 KiB: refreshed every half of 33.55 ms until the XON.
  const auto pfc = rig.wire.sent_control(port(2));
  ASSERT_EQ(pfc.size(), 3u);
  EXPECT_EQ(pfc[0].start, at(start + 9008 * 8_ns + 600_ns));
  EXPECT_EQ(pfc[1].start - pfc[0].start, 65535 * 256_ns);
  EXPECT_EQ(pfc[2].pfc().quanta[3], 0) << "when the frame had left";
  EXPECT_EQ(pfc[2].start, held[0].start + 9020 * 8_ns);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 0u);
}

}  // namespace
}  // namespace railyard
