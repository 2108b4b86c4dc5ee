// A switch whose settings, or the rate of whose links, become others while frames are on their way through it.
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/dataplane/switch/switch_rig.h"

namespace railyard {
namespace {

SwitchSettings settings_of(const Switch& sw) {
  SwitchSettings s;
  for (const SwitchPortConfig& p : sw.config().ports) s.ports.push_back({p.classes, {}, p.quality});
  s.paths = sw.config().paths;
  s.reports = sw.config().reports;
  return s;
}

class SwitchChanges : public ::testing::Test {
 protected:
  // Class 3 lossless: XOFF at 20 cells, XON 8 below, headroom of 40 cells.
  static SwitchConfig config() {
    SwitchConfig c = switch_config(4);
    for (SwitchPortConfig& p : c.ports)
      p.classes[3].buffer = {.lossless = true, .xoff = {20 * 256}, .headroom = {40 * 256}, .xon_offset = {8 * 256}};
    c.pause_quanta = 1000;
    return c;
  }
  void change(Duration when, const std::function<void(SwitchSettings&)>& edit) {
    rig.sw.change_at(at(when), [this, edit](Instant now) {
      SwitchSettings s = settings_of(rig.sw);
      edit(s);
      rig.sw.apply(now, s);
    });
  }
  // The same for class 3 of all ports.
  void change_class(Duration when, const std::function<void(SwitchClassConfig&)>& edit) {
    change(when, [edit](SwitchSettings& s) {
      for (SwitchSettings::Port& p : s.ports) edit(p.classes[3]);
    });
  }
  void send(PortIndex in, Duration start, std::uint8_t dscp = 26) {
    rig.send(in, start, {.destination = host(kOut), .dscp = dscp, .frame_octets = 1000});
  }
  // Class 3 of the way out is paused from the beginning until it is let go.
  void hold() { rig.wire.send_pfc(kOut, at(0_ns), 1 << 3, {0, 0, 0, 0xFFFF}); }
  Instant let_go(Duration start) { return rig.wire.send_pfc(kOut, at(start), 1 << 3, {}); }

  SwitchRig rig{config()};
};

TEST_F(SwitchChanges, AThresholdOfMarkingCountsFromItsInstant) {
  hold();
  // Frames take effect every 81.6 ns from 5.68 us on; the change comes with the sixth, before it.
  for (int i = 0; i < 10; ++i) send(kIn, 5_us + kSlot * i);
  change_class(5_us + kSlot * 5 + kEffect, [](SwitchClassConfig& c) {
    c.ecn = {.enabled = true, .kmin = {0}, .kmax = {0}, .pmax_ppm = 1'000'000};
  });
  let_go(10_us);
  rig.run(100_us);
  const auto sent = rig.wire.sent_data(kOut);
  ASSERT_EQ(sent.size(), 10u);
  for (std::size_t i = 0; i < sent.size(); ++i)
    EXPECT_EQ(wire::ecn_of(sent[i].view().traffic_class_octet) == wire::Ecn::kCe, i >= 5) << i;
  EXPECT_EQ(rig.count(kOut, cls(3)).ecn_marked, 5u);
}

TEST_F(SwitchChanges, ALowerLimitSaysXoffAtItsInstant) {
  hold();
  for (int i = 0; i < 3; ++i) send(kIn, 5_us + kSlot * i);  // 12 cells
  send(port(2), 5_us);                                      // 4
  change_class(9_us, [](SwitchClassConfig& c) {
    c.buffer.xoff = {12 * 256};
    c.buffer.xon_offset = {4 * 256};
  });
  rig.run(9_us + 1_ps);
  const auto said = rig.wire.sent(kIn);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(9_us));
  EXPECT_EQ(said[0].pfc().quanta[3], 1000);
  EXPECT_TRUE(rig.wire.sent(port(2)).empty()) << "still below it";
  // And XON by the new limits: 8 cells are left when one frame has gone.
  const Instant go = let_go(12_us);
  rig.run(100_us);
  const auto more = rig.wire.sent(kIn);
  EXPECT_EQ(more.back().pfc().quanta[3], 0);
  EXPECT_EQ(more.back().start, go + kSlot);
}

TEST_F(SwitchChanges, AHigherLimitSaysXonAtItsInstant) {
  hold();
  for (int i = 0; i < 8; ++i) send(kIn, 5_us + kSlot * i);  // 20 cells shared, 12 in headroom
  rig.run(9_us);
  ASSERT_EQ(rig.count(kIn, cls(3)).headroom_cells, 12u);
  rig.wire.sent(kIn);
  change_class(9_us, [](SwitchClassConfig& c) { c.buffer.xoff = {100 * 256}; });
  rig.run(9_us + 1_ps);
  const auto said = rig.wire.sent(kIn);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0].start, at(9_us));
  EXPECT_EQ(said[0].pfc().enable, 1 << 3);
  EXPECT_EQ(said[0].pfc().quanta[3], 0);
  EXPECT_EQ(rig.count(kIn, cls(3)).headroom_cells, 0u) << "it fits below the new limit";
  EXPECT_EQ(rig.sw.mmu().shared_used(), 32u);
  let_go(12_us);
  rig.run(100_us);
  EXPECT_TRUE(rig.wire.sent(kIn).empty()) << "nothing more to say";
  EXPECT_EQ(rig.wire.sent_data(kOut).size(), 8u);
  EXPECT_EQ(rig.sw.counters().buffer_cells, 0u);
}

TEST_F(SwitchChanges, BetweenXonAndXoffNothingIsSaid) {
  hold();
  for (int i = 0; i < 5; ++i) send(kIn, 5_us + kSlot * i);  // 20 cells: paused
  for (int i = 0; i < 3; ++i) send(port(2), 5_us + kSlot * i);
  rig.run(6_us + 400_ns);
  rig.wire.sent(kIn);
  change_class(6_us + 400_ns, [](SwitchClassConfig& c) { c.buffer.xoff = {25 * 256}; });  // XON at 17 now
  rig.run(6_us + 500_ns);
  EXPECT_TRUE(rig.wire.sent(kIn).empty());
  EXPECT_TRUE(rig.wire.sent(port(2)).empty());
}

// With a dynamic threshold that has come down to nothing, an empty group is not paused: nobody would let it go.
TEST_F(SwitchChanges, AnEmptyGroupIsNeverPaused) {
  change_class(5_us, [](SwitchClassConfig& c) { c.buffer.xoff = {1}; });
  rig.run(10_us);
  for (std::uint16_t p = 0; p < 4; ++p) EXPECT_TRUE(rig.wire.sent(port(p)).empty());
  for (int i = 0; i < 5; ++i) send(kIn, 10_us + 1_us * i);
  rig.run(50_us);
  const auto said = rig.wire.sent(kIn);
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back().pfc().quanta[3], 0) << "what is said last is XON";
  EXPECT_EQ(rig.wire.sent_data(kOut).size(), 5u);
}

TEST_F(SwitchChanges, FromAlphaToAFixedLimitAndBack) {
  hold();
  for (int i = 0; i < 5; ++i) send(kIn, 5_us + kSlot * i);
  change_class(7_us, [](SwitchClassConfig& c) {
    c.buffer.xoff = {};
    c.buffer.alpha = {0};
  });
  change_class(8_us, [](SwitchClassConfig& c) { c.buffer.xoff = {20 * 256}; });
  rig.run(8_us + 1_ps);
  const auto said = rig.wire.sent(kIn);
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0].pfc().quanta[3], 1000);
  EXPECT_EQ(said[1].start, at(7_us));
  EXPECT_EQ(said[1].pfc().quanta[3], 0);
  EXPECT_EQ(said[2].start, at(8_us));
  EXPECT_EQ(said[2].pfc().quanta[3], 1000);
}

// Frames per class among the next `n` that leave after `from`.
std::array<int, kPriorities> shares(const std::vector<Sent>& sent, Instant from, int n) {
  std::array<int, kPriorities> count{};
  for (const Sent& s : sent) {
    if (s.start < from || n == 0) continue;
    --n;
    ++count[s.view().traffic_class_octet >> 5];
  }
  return count;
}

TEST_F(SwitchChanges, WeightsShareFromTheirInstantOn) {
  for (int i = 0; i < 300; ++i) {
    send(kIn, kSlot * i, 0);
    send(port(2), kSlot * i, 8);
  }
  change(15_us, [](SwitchSettings& s) { s.ports[1].classes[1].scheduling.weight = 3; });
  rig.run(200_us);
  const auto sent = rig.wire.sent_data(kOut);
  EXPECT_EQ(sent.size(), 600u);
  const auto before = shares(sent, at(2_us), 100);
  EXPECT_NEAR(before[0], 50, 10);  // a quantum is nine frames
  const auto after = shares(sent, at(15_us), 148);
  EXPECT_NEAR(after[1], 111, 10);
}

TEST_F(SwitchChanges, StrictAndWeightedInTurn) {
  for (int i = 0; i < 300; ++i) {
    send(kIn, kSlot * i, 0);
    send(port(2), kSlot * i, 8);
  }
  change(10_us, [](SwitchSettings& s) { s.ports[1].classes[1].scheduling.strict = true; });
  change(18_us, [](SwitchSettings& s) { s.ports[1].classes[1].scheduling.strict = false; });
  rig.run(200_us);
  const auto sent = rig.wire.sent_data(kOut);
  EXPECT_EQ(shares(sent, at(10_us), 90)[0], 0);
  EXPECT_NEAR(shares(sent, at(18_us), 90)[0], 45, 10);
}

TEST(SwitchPaths, APathPolicyCountsForWhatArrivesFromItsInstantOn) {
  SwitchConfig c = switch_config(4);
  c.routes.push_back({wire::IpPrefix::of(host(port(9)), 96 + 24), {port(1), port(2)}});
  std::vector<wire::IpPrefix> prefixes;
  for (const Route& r : c.routes) prefixes.push_back(r.prefix);
  c.fecs = std::make_shared<const FecTable>(prefixes);
  SwitchRig rig(c);
  for (int i = 0; i < 40; ++i)
    rig.send(kIn, 5_us + kSlot * i, {.destination = host(port(9)), .dscp = 26, .frame_octets = 1000});
  const auto set_path = [&](Duration when, PathPolicy policy) {
    rig.sw.change_at(at(when), [&rig, policy](Instant now) {
      SwitchSettings s = settings_of(rig.sw);
      s.paths.by_class[3].policy = policy;
      rig.sw.apply(now, s);
    });
  };
  set_path(5_us + kSlot * 10 + kEffect, PathPolicy::kSpray);
  set_path(5_us + kSlot * 30 + kEffect, PathPolicy::kEcmp);
  rig.run(50_us);
  const std::size_t one = rig.wire.sent_data(port(1)).size();
  const std::size_t two = rig.wire.sent_data(port(2)).size();
  EXPECT_EQ(one + two, 40u);
  EXPECT_EQ(std::max(one, two), 30u) << "ten and ten by the flow's path, twenty in turn";
}

// ---- Rates ---------------------------------------------------------------------------------------------------------

class SwitchRates : public SwitchChanges {
 protected:
  void rate(Duration when, PortIndex p, BitRate r) { rig.sw.set_rate_at(at(when), p, r, 2_us); }
};

TEST_F(SwitchRates, ARunningTransmissionEndsAsItBegan) {
  hold();
  for (int i = 0; i < 4; ++i) send(kIn, 5_us + kSlot * i);
  const Instant go = let_go(10_us);
  rate(go - Instant{} + kSlot + 1_ns, kOut, 10_Gbps);
  rate(go - Instant{} + 2 * kSlot + 1_ns, kOut, 400_Gbps);
  rig.run(100_us);
  const auto sent = rig.wire.sent_data(kOut);
  ASSERT_EQ(sent.size(), 4u);
  EXPECT_EQ(sent[0].start, go);
  EXPECT_EQ(sent[1].start, go + kSlot);
  EXPECT_EQ(sent[2].start, go + 2 * kSlot) << "begun at 100 Gb/s";
  EXPECT_EQ(sent[3].start, sent[2].start + 10 * kSlot) << "begun at 10 Gb/s";
  EXPECT_EQ(sent[3].effect, sent[3].start + 20'160_ps) << "1008 octets at 400 Gb/s";
  EXPECT_EQ(sent[2].effect, sent[2].start + 806'400_ps);
}

TEST_F(SwitchRates, AtTheInstantOfADepartureItCountsForIt) {
  rate(5_us, kOut, 10_Gbps);
  send(kIn, 5_us - kEffect);
  rig.run(20_us);
  const auto sent = rig.wire.sent_data(kOut);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].effect, at(5_us + 806'400_ps));
}

// 1000 quanta are 5.12 us at 100 Gb/s and 1.28 us at 400 Gb/s: whoever counts in these must hear it again in time.
TEST_F(SwitchRates, AStandingXoffIsRepeatedInTheTimeOfTheNewQuanta) {
  hold();
  for (int i = 0; i < 5; ++i) send(kIn, 5_us + kSlot * i);
  rig.run(6_us + 100_ns);
  ASSERT_EQ(rig.wire.sent(kIn).size(), 1u);
  rate(6_us + 100_ns, kIn, 400_Gbps);
  rig.run(10_us);
  const auto said = rig.wire.sent(kIn);
  ASSERT_GE(said.size(), 2u);
  EXPECT_EQ(said[0].start, at(6_us + 100_ns + 500 * kQuantum / 4));
  EXPECT_EQ(said[1].start, said[0].start + 500 * kQuantum / 4);
}

// ---- Headroom ------------------------------------------------------------------------------------------------------

TEST_F(SwitchChanges, HeadroomForATransitionIsGivenAtOnceAndTakenBackWhenItIsOver) {
  const std::uint32_t shared = rig.sw.mmu().shared_size();
  change(5_us, [](SwitchSettings& s) {
    s.ports[0].transition_headroom[3] = {100 * 256};
    s.ports[0].classes[3].buffer.headroom = {50 * 256};
    s.transition = 20_us;
  });
  rig.run(5_us + 1_ps);
  EXPECT_EQ(rig.sw.mmu().shared_size(), shared - 60);
  rig.run(25_us);
  EXPECT_EQ(rig.sw.mmu().shared_size(), shared - 60);
  rig.run(25_us + 1_ps);
  EXPECT_EQ(rig.sw.mmu().shared_size(), shared - 10);
  EXPECT_EQ(rig.sw.config().ports[0].classes[3].buffer.headroom, Bytes{50 * 256});
}

TEST_F(SwitchChanges, HeadroomThatIsInUseIsTakenBackWhenItIsNot) {
  const std::uint32_t shared = rig.sw.mmu().shared_size();
  hold();
  for (int i = 0; i < 10; ++i) send(kIn, 5_us + kSlot * i);  // 20 cells shared, 20 in headroom
  change(8_us, [](SwitchSettings& s) { s.ports[0].classes[3].buffer.headroom = {10 * 256}; });
  rig.run(50_us);
  EXPECT_EQ(rig.sw.mmu().shared_size(), shared);
  EXPECT_EQ(rig.count(kIn, cls(3)).headroom_cells, 20u);
  let_go(50_us);
  rig.run(100_us);
  EXPECT_EQ(rig.sw.mmu().shared_size(), shared + 30);
  EXPECT_EQ(rig.wire.sent_data(kOut).size(), 10u);
}

// The later word counts, also before the earlier one has come true.
TEST_F(SwitchChanges, HeadroomIsWhatWasSaidLast) {
  const std::uint32_t shared = rig.sw.mmu().shared_size();
  for (const std::int64_t cells : {30, 60, 20, 45})
    change(5_us + 1_us * cells, [cells](SwitchSettings& s) {
      s.ports[0].classes[3].buffer.headroom = {cells * 256};
      s.ports[0].transition_headroom[3] = {80 * 256};
      s.transition = 40_us;
    });
  rig.run(300_us);
  EXPECT_EQ(rig.sw.config().ports[0].classes[3].buffer.headroom, Bytes{60 * 256});
  EXPECT_EQ(rig.sw.mmu().shared_size(), shared - 20);
}

}  // namespace
}  // namespace railyard
