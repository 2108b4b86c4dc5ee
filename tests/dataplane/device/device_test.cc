#include "dataplane/device/device.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/base/rng.h"
#include "tests/dataplane/device/probe.h"
#include "tests/support/instant.h"
#include "tests/support/wire.h"

namespace railyard {
namespace {

using namespace literals;
using test::Wire;
using test::WireLink;

constexpr PortIndex kPort{0};
constexpr PortIndex kOther{1};
using Events = std::vector<Probe::Event>;

// Two ports of 100 Gb/s. Frames are pushed so that they take effect at a chosen instant.
class DeviceTest : public ::testing::Test {
 protected:
  DeviceTest() { wire.connect(probe, std::vector<WireLink>(2)); }

  // A frame of 992 octets: 80 ns with the preamble. Its transmission starts 680 ns before its effect (80 + latency
  // 600).
  Packet* frame(std::uint64_t stream) {
    return test::make_frame(wire.pool(), FecTable{}, {.frame_octets = 992, .stream = stream});
  }
  void arrive(Duration effect, std::uint64_t stream, PortIndex port = kPort) {
    ASSERT_EQ(wire.send(port, at(effect - 680_ns), frame(stream)), at(effect));
  }
  // A PFC frame: 72 octets = 5.76 ns, and 2 us of response.
  void control(Duration effect, PortIndex port = kPort) {
    ASSERT_EQ(wire.send_pfc(port, at(effect - 2_us - 5'760_ps), 1, {5}), at(effect));
  }
  // What is handed to change_at or snapshot_at.
  auto noting(std::string what) {
    return [this, what](Instant now) { probe.note(now, what); };
  }

  Probe probe{DeviceId{0}, "probe", 2};
  Wire wire;
};

TEST_F(DeviceTest, DoesEverythingDueBeforeAnInstantAndNothingElse) {
  arrive(1_us, 1);
  arrive(2_us, 2);
  EXPECT_EQ(probe.advance(at(2_us)), at(2_us)) << "when it has something to do next";
  EXPECT_EQ(probe.events, (Events{{at(1_us), "data", 0, 1}}));
  EXPECT_EQ(probe.done(), at(2_us));
  EXPECT_EQ(probe.advance(at(2_us) + 1_ps), Instant::never());
  EXPECT_EQ(probe.events.size(), 2u);
}

TEST_F(DeviceTest, AdvancingIntoThePastIsNothing) {
  arrive(1_us, 1);
  arrive(5_us, 2);
  EXPECT_EQ(probe.advance(at(3_us)), at(5_us));
  const std::size_t slices = probe.slices.size();
  for (const Duration d : {3_us, 1_us, 0_us}) EXPECT_EQ(probe.advance(at(d)), at(5_us));
  EXPECT_EQ(probe.slices.size(), slices);
  EXPECT_EQ(probe.done(), at(3_us));
  EXPECT_EQ(probe.next(), at(5_us));
}

// engine.md §2: change; snapshot; MAC control; (transmit end;) arrival.
TEST_F(DeviceTest, TheOrderAtOneInstant) {
  arrive(3_us, 1, kOther);
  arrive(3_us, 2, kPort);
  control(3_us, kOther);
  probe.snapshot_at(at(3_us), [&](DeviceCounters c) { probe.note(c.at, "snapshot"); });
  probe.change_at(at(3_us), noting("first change"));
  probe.change_at(at(3_us), noting("second change"));
  probe.advance(at(10_us));
  EXPECT_EQ(probe.events, (Events{{at(3_us), "first change"},
                                  {at(3_us), "second change"},
                                  {at(3_us), "snapshot"},
                                  {at(3_us), "control", 1},
                                  {at(3_us), "data", 0, 2},
                                  {at(3_us), "data", 1, 1}}));
}

TEST_F(DeviceTest, ChangesComeInOrderOfTimeThenOfTheCalls) {
  probe.change_at(at(2_us), noting("c"));
  probe.change_at(at(1_us), noting("a"));
  probe.change_at(at(2_us), noting("d"));
  probe.change_at(at(1_us), noting("b"));
  EXPECT_EQ(probe.next(), at(0_us)) << "a fresh device is asked at once";
  EXPECT_EQ(probe.advance(at(2_us)), at(2_us));
  EXPECT_EQ(probe.events, (Events{{at(1_us), "a"}, {at(1_us), "b"}}));
  probe.advance(at(2_us) + 1_ps);
  EXPECT_EQ(probe.events.size(), 4u);
  EXPECT_EQ(probe.events[3].what, "d");
}

TEST_F(DeviceTest, AChangeLowersTheNextInstant) {
  probe.advance(at(1_us));
  EXPECT_EQ(probe.next(), Instant::never());
  EXPECT_EQ(probe.change_at(at(5_us), noting("x")), at(5_us));
  EXPECT_EQ(probe.change_at(at(7_us), noting("y")), at(5_us));
  EXPECT_EQ(probe.snapshot_at(at(4_us), [](DeviceCounters) {}), at(4_us));
  EXPECT_EQ(probe.next(), at(4_us));
}

TEST_F(DeviceTest, AChangeMayAskForAnotherAtTheSameInstant) {
  probe.change_at(at(1_us), [&](Instant now) {
    probe.note(now, "outer");
    probe.change_at(now, noting("inner"));
  });
  probe.snapshot_at(at(1_us), [&](DeviceCounters c) { probe.note(c.at, "snapshot"); });
  arrive(1_us, 1);
  probe.advance(at(2_us));
  EXPECT_EQ(probe.events,
            (Events{{at(1_us), "outer"}, {at(1_us), "inner"}, {at(1_us), "snapshot"}, {at(1_us), "data", 0, 1}}));
}

TEST_F(DeviceTest, ASnapshotSeesWhatWasBeforeItsInstant) {
  arrive(1_us, 1);
  arrive(2_us, 2);
  std::vector<DeviceCounters> seen;
  for (const Duration d : {1_us, 1_us + 1_ps, 2_us, 3_us})
    probe.snapshot_at(at(d), [&](DeviceCounters c) { seen.push_back(std::move(c)); });
  probe.advance(at(4_us));
  ASSERT_EQ(seen.size(), 4u);
  const auto delivered = [&](std::size_t i) { return seen[i].ports[0].delivered; };
  EXPECT_EQ(delivered(0), 0u);
  EXPECT_EQ(delivered(1), 1u);
  EXPECT_EQ(delivered(2), 1u);
  EXPECT_EQ(delivered(3), 2u);
  EXPECT_EQ(seen[2].at, at(2_us));
  EXPECT_EQ(seen[2].name, "probe");
  for (const DeviceCounters& c : seen) EXPECT_TRUE(c.balanced());
}

TEST_F(DeviceTest, FramesOfOneChannelAndInstantKeepTheirOrder) {
  for (std::uint64_t i = 1; i <= 40; ++i) wire.send(kPort, at(1_us), frame(i));
  probe.advance(at(2_us));
  ASSERT_EQ(probe.events.size(), 40u);
  for (std::uint64_t i = 1; i <= 40; ++i) EXPECT_EQ(probe.events[i - 1].stream, i);
}

// engine.md §2: any partition of time gives the same.
TEST_F(DeviceTest, SlicingIsInvisible) {
  const auto scenario = [](Probe& p, Wire& w, std::vector<DeviceCounters>& snapshots) {
    RngStream rng(Seed{1}, "device_test/scenario");
    for (std::uint16_t port = 0; port < 2; ++port) {
      Duration start{};
      for (std::uint64_t i = 0; i < 200; ++i) {
        start += 1_ns * static_cast<std::int64_t>(rng.below(100));
        w.send(PortIndex{port}, at(start), test::make_frame(w.pool(), FecTable{}, {.frame_octets = 992, .stream = i}));
        if (i % 10 == 0) w.send_pfc(PortIndex{port}, at(start), 1, {5});
      }
    }
    for (int i = 0; i < 50; ++i) {
      const Instant when = at(1_ns * static_cast<std::int64_t>(rng.below(12'000)));
      p.change_at(when, [&p, i](Instant now) { p.note(now, "change " + std::to_string(i)); });
      p.snapshot_at(when, [&snapshots](DeviceCounters c) { snapshots.push_back(std::move(c)); });
    }
    p.link_down_at(at(4_us), kOther);
    p.link_up_at(at(5_us), kOther);
  };
  std::vector<DeviceCounters> snapshots;
  scenario(probe, wire, snapshots);
  probe.advance(at(20_us));
  ASSERT_GT(probe.events.size(), 400u);
  ASSERT_EQ(snapshots.size(), 50u);

  RngStream rng(Seed{2}, "device_test/slices");
  for (int round = 0; round < 20; ++round) {
    Probe other(DeviceId{0}, "probe", 2);
    Wire other_wire(round % 2 == 0 ? Wire::Way::kNear : Wire::Way::kRings);
    other_wire.connect(other, std::vector<WireLink>(2));
    std::vector<DeviceCounters> other_snapshots;
    scenario(other, other_wire, other_snapshots);
    while (other.done() < at(20_us)) {
      // Of all lengths, and to the instants of events too.
      Instant to = other.done() + Duration{static_cast<std::int64_t>(rng.below(rng.below(2) == 0 ? 2'000 : 2'000'000))};
      if (rng.below(3) == 0) to = probe.events[rng.below(probe.events.size())].at;
      other.advance(std::min(to, at(20_us)));
    }
    ASSERT_EQ(other.events, probe.events) << "round " << round;
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      ASSERT_EQ(other_snapshots[i].at, snapshots[i].at);
      for (std::size_t p = 0; p < 2; ++p) {
        ASSERT_EQ(other_snapshots[i].ports[p].delivered, snapshots[i].ports[p].delivered);
        ASSERT_EQ(other_snapshots[i].ports[p].lost, snapshots[i].ports[p].lost);
      }
    }
    EXPECT_EQ(other.counters().ports[1].lost, probe.counters().ports[1].lost);
  }
  EXPECT_GT(probe.counters().ports[1].lost, 0u);
}

// ---- Link down -----------------------------------------------------------------------------------------------------

// engine.md §6: lost iff start < down <= arrival. A frame that starts at 1 us arrives with its tail at 1.080 us and
// takes effect at 1.680 us; a PFC frame arrives at 1.00576 us and takes effect 2 us later.
class LinkDown : public DeviceTest {
 protected:
  bool delivered(Duration down, std::optional<Duration> up, bool as_control) {
    const bool near = delivered(down, up, as_control, Wire::Way::kNear);
    EXPECT_EQ(delivered(down, up, as_control, Wire::Way::kRings), near);
    return near;
  }
  bool delivered(Duration down, std::optional<Duration> up, bool as_control, Wire::Way way) {
    Probe p(DeviceId{0}, "probe", 1);
    Wire w(way);
    w.connect(p, std::vector<WireLink>(1));
    if (as_control)
      w.send_pfc(kPort, at(1_us), 1, {5});
    else
      w.send(kPort, at(1_us), test::make_frame(w.pool(), FecTable{}, {.frame_octets = 992}));
    p.link_down_at(at(down), kPort);
    if (up) p.link_up_at(at(*up), kPort);
    p.advance(at(10_us));
    const DeviceCounters c = p.counters();
    EXPECT_EQ(c.ports[0].delivered + c.ports[0].lost, 1u);
    return c.ports[0].delivered == 1;
  }
};

TEST_F(LinkDown, AFrameIsLostIfTheLinkGoesDownAfterItsStartAndUpToItsArrival) {
  for (const std::optional<Duration> up : {std::optional<Duration>{}, std::optional{9_us}}) {
    EXPECT_TRUE(delivered(999_ns, up, false));
    EXPECT_TRUE(delivered(1_us, up, false)) << "not after its start";
    EXPECT_FALSE(delivered(1_us + 1_ps, up, false));
    EXPECT_FALSE(delivered(1080_ns, up, false)) << "the tail has not passed";
    EXPECT_TRUE(delivered(1080_ns + 1_ps, up, false)) << "it is in the pipeline";
    EXPECT_TRUE(delivered(1680_ns, up, false));
  }
  EXPECT_FALSE(delivered(1_us + 10_ns, 1_us + 20_ns, false)) << "regardless of the link's state when it is handled";
}

TEST_F(LinkDown, PauseFramesCountFromTheirTail) {
  EXPECT_TRUE(delivered(1_us, {}, true));
  EXPECT_FALSE(delivered(1_us + 1_ps, {}, true));
  EXPECT_FALSE(delivered(1_us + 5'760_ps, {}, true));
  EXPECT_TRUE(delivered(1_us + 5'761_ps, {}, true));
}

// At 1 Gb/s it takes 576 ns for what takes 5.76 ns at 100 Gb/s; one that has begun is as fast as it began.
TEST_F(LinkDown, WhatBeganBeforeAnotherRateArrivesAsItBegan) {
  const auto lost = [](Duration rate_changes, Duration down) {
    Probe p(DeviceId{0}, "probe", 1);
    Wire w;
    w.connect(p, std::vector<WireLink>(1));
    w.send_pfc(kPort, at(1_us), 1, {5});
    p.set_rate_at(at(rate_changes), kPort, 1_Gbps, 2_us);
    p.link_down_at(at(down), kPort);
    p.advance(at(10_us));
    return p.counters().ports[0].lost == 1;
  };
  EXPECT_FALSE(lost(1_us + 1_ps, 1_us + 5'761_ps));
  EXPECT_TRUE(lost(1_us + 1_ps, 1_us + 5'760_ps));
  EXPECT_TRUE(lost(1_us, 1_us + 5'761_ps)) << "begun at the new rate";
}

TEST_F(LinkDown, EachOfSeveralDownsCounts) {
  for (const Duration down : {1_us, 2_us, 3_us}) {
    probe.link_down_at(at(down), kPort);
    probe.link_up_at(at(down + 100_ns), kPort);
  }
  // Starts at 0.95, 1.05, 1.95, 2.5, 2.99 us; each lasts 80 ns.
  std::uint64_t stream = 0;
  for (const Duration start : {950_ns, 1050_ns, 1950_ns, 2500_ns, 2990_ns})
    wire.send(kPort, at(start), frame(++stream));
  probe.advance(at(10_us));
  std::vector<std::uint64_t> arrived;
  for (const Probe::Event& e : probe.events)
    if (e.what == "data") arrived.push_back(e.stream);
  EXPECT_EQ(arrived, (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(probe.counters().ports[0].lost, 3u);
  EXPECT_EQ(wire.pools().in_use(), 0u) << "lost packets are given back";
}

TEST_F(LinkDown, IsTheAffairOfOnePort) {
  wire.send(kPort, at(1_us), frame(1));
  wire.send(kOther, at(1_us), frame(2));
  probe.link_down_at(at(1050_ns), kOther);
  EXPECT_TRUE(probe.link_up(kOther));
  probe.advance(at(10_us));
  EXPECT_TRUE(probe.link_up(kPort));
  EXPECT_FALSE(probe.link_up(kOther));
  EXPECT_EQ(probe.events, (Events{{at(1050_ns), "down", 1}, {at(1680_ns), "data", 0, 1}}));
}

// ---- Long runs -----------------------------------------------------------------------------------------------------

// Event keys reach 140 s ahead of a base that moves along.
TEST_F(DeviceTest, TimeGoesOnBeyondTheReachOfEventKeys) {
  std::uint64_t n = 0;
  for (const Duration d : {1_s, 34_s, 36_s, 70_s, 71_s, 140_s, 141_s, 300_s, 1000_s}) arrive(d, ++n);
  for (Instant to = at(500_ms); to < at(1001_s); to = to + 777_ms) probe.advance(to);
  probe.advance(at(1001_s));
  ASSERT_EQ(probe.events.size(), 9u);
  EXPECT_EQ(probe.events[6], (Probe::Event{at(141_s), "data", 0, 7}));
  EXPECT_EQ(probe.events[8], (Probe::Event{at(1000_s), "data", 0, 9}));
  EXPECT_GT(probe.rebased, 0u);
}

TEST_F(DeviceTest, OneStepMayBeLongerThanTheReachOfEventKeys) {
  arrive(200_s, 1);
  arrive(200_s + 1_ps, 2, kOther);
  probe.change_at(at(300_s), noting("change"));
  EXPECT_EQ(probe.advance(at(200_s)), at(200_s));
  EXPECT_TRUE(probe.events.empty());
  EXPECT_EQ(probe.advance(at(400_s)), Instant::never());
  EXPECT_EQ(probe.events, (Events{{at(200_s), "data", 0, 1}, {at(200_s) + 1_ps, "data", 1, 2}, {at(300_s), "change"}}));
}

// ---- Our own mistakes ----------------------------------------------------------------------------------------------

using DeviceDeathTest = DeviceTest;

TEST_F(DeviceDeathTest, AChangeInThePastIsRefused) {
  probe.advance(at(1_us));
  EXPECT_DEATH(probe.change_at(at(999_ns), [](Instant) {}), "a change in a device's past");
}

TEST_F(DeviceDeathTest, AFrameThatTakesEffectInThePastIsRefused) {
  EXPECT_DEATH(
      {
        probe.advance(at(1_us));
        wire.send(kPort, at(0_us), frame(1));
        probe.advance(at(2_us));
      },
      "causality");
}

TEST(DeviceDeath, ADeviceHasNoMorePortsThanEventKeysName) {
  EXPECT_DEATH(Probe(DeviceId{0}, "probe", EventKey::kMaxPorts + 1), "more ports");
}

}  // namespace
}  // namespace railyard
