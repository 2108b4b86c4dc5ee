// The scenarios of topologies/scenarios about lossless classes, each against what it is to show.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/spec/load.h"
#include "control/telemetry/deadlock.h"
#include "dataplane/device/pause_response.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

std::string file(const std::string& name) {
  return spec::read_file(RAILYARD_SOURCE_DIR "/topologies/scenarios/" + name + ".yaml");
}

std::uint64_t xoffs_sent(Scenario& s) {
  std::uint64_t n = 0;
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports)
      for (const ClassCounters& c : p.classes) n += c.xoff_sent;
  return n;
}

void expect_all_arrived(Scenario& s) {
  for (const build::Flow& f : s.lab().flows()) EXPECT_EQ(f.received().packets, f.sent().packets) << f.plan.name;
}

// ---- Trimming ------------------------------------------------------------------------------------------------------

TEST(Trimming, EveryPacketIsDeliveredOrTrimmedAndNoneIsLost) {
  Scenario s(file("trimming"));
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  std::uint64_t trimmed = 0;
  for (const build::Flow& f : s.lab().flows()) {
    EXPECT_EQ(f.received().packets + f.received().trimmed, f.sent().packets) << f.plan.name;
    EXPECT_EQ(f.received().corrupted, 0u);
    trimmed += f.received().trimmed;
  }
  // 1600 Gb/s come for 100: what is not trimmed is what leaves meanwhile and what the queue holds.
  EXPECT_GT(trimmed, 16 * 245 * 9 / 10u);
  EXPECT_EQ(s.at("leaf1:1", 3).trimmed, trimmed);
  EXPECT_EQ(s.at("leaf1:1", 5).tx_packets, trimmed);
  // One queue of alpha = 1/8 holds B x alpha / (1 + alpha); less by at most the frame that was refused, in octets of
  // frames that do not quite fill their cells.
  const double limit = (4 << 20) / 9.0;
  const double filled = 4158.0 / (17 * 256);
  EXPECT_NEAR(static_cast<double>(s.at("leaf1:1", 3).max_depth_octets), limit * filled, 2 * 4352);
  // The sixteen cut frames of a moment wait for one another and for the data frame in progress, no more.
  EXPECT_LE(s.at("leaf1:1", 5).max_depth_octets, 2 * 16 * 132u);
  s.expect_books_balance();
}

TEST(Trimming, OffTheSameFramesAreDropped) {
  Scenario s(file("trimming"), {"qos.default.classes.3.trim="});
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kEgressFull), 16 * 245 * 8 / 10u);
  EXPECT_EQ(s.at("leaf1:1", 5).tx_packets, 0u);
}

TEST(Trimming, WithATrimQueueThatIsTooSmallTheRestIsDroppedWithItsOwnReason) {
  Scenario s(file("trimming"),
             {"qos.default.classes.5={ weight: 1, queue-alpha: 1/256 }", "switches.default.buffer=1MiB"});
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kTrimQueueFull), 0u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kTrimQueueFull));
  for (const build::Flow& f : s.lab().flows()) EXPECT_LE(f.received().packets + f.received().trimmed, f.sent().packets);
  s.expect_books_balance();
}

// ---- Deep and shallow ----------------------------------------------------------------------------------------------

TEST(Incast64, AShallowLosslessBufferPausesAndLosesNothing) {
  Scenario s(file("incast-64"));
  s.run_to_the_end();
  EXPECT_GT(xoffs_sent(s), 64u);
  EXPECT_EQ(s.dropped(), 0u);
  expect_all_arrived(s);
}

TEST(Incast64, AShallowLossyBufferDrops) {
  Scenario s(file("incast-64"), {"qos.default.classes.3.lossless=false"});
  s.run_to_the_end();
  EXPECT_EQ(xoffs_sent(s), 0u);
  // 32 MB less what leaves in the 40 us of the burst and the half of 16 MiB that one queue of alpha 1 may have.
  const double frames = 64 * 123.0;
  const double kept = (16 << 20) / 2.0 / (17 * 256) + 40e-6 * 100e9 / 8 / 4178;
  EXPECT_NEAR(static_cast<double>(s.drops(DropReason::kEgressFull)), frames - kept, 0.05 * frames);
}

TEST(Incast64, ADeepBufferDoesNeitherAndItsDelayIsItsDepth) {
  for (const char* lossless : {"true", "false"}) {
    Scenario s(file("incast-64"),
               {"switches.default.buffer=1GiB", std::string("qos.default.classes.3.lossless=") + lossless});
    s.run_to_the_end();
    EXPECT_EQ(xoffs_sent(s), 0u);
    EXPECT_EQ(s.dropped(), 0u);
    expect_all_arrived(s);
    const auto depth = static_cast<double>(s.at("leaf1:1", 3).max_depth_octets);
    const double peak = depth * 8 / 100e9;
    Histogram all;
    for (const build::Flow& f : s.lab().flows()) all.merge(f.received().latency);
    EXPECT_NEAR(static_cast<double>(all.percentile(0.99)) * 1e-12, peak, 0.05 * peak);
    // All of it, but what the receiver took while it came: 1/64.
    EXPECT_NEAR(depth, 64 * 500e3 * (1 + 62.0 / 4096) * 63 / 64, 0.01 * 32e6);
  }
}

// ---- CE and XOFF ---------------------------------------------------------------------------------------------------

TEST(CeBeforeXoff, WithSaneThresholdsAnIncastIsMarkedAndNobodyIsPaused) {
  for (const char* rate : {"100Gbps", "400Gbps"}) {
    Scenario s(file("ce-before-xoff"), {std::string("defaults.link.rate=") + rate});
    s.run_to_the_end();
    EXPECT_EQ(xoffs_sent(s), 0u) << rate;
    EXPECT_GT(s.at("leaf1:1", 3).ecn_marked, 100u) << rate;
    EXPECT_NE(s.at("leaf1:1", 3).first_ce, Instant::never());
    EXPECT_EQ(s.at("leaf1:1", 3).first_xoff, Instant::never());
    EXPECT_EQ(s.dropped(), 0u);
  }
}

// Eight groups of 100 KB each are full when the queue has 800 KB: before that Kmin is reached or not.
TEST(CeBeforeXoff, TheOrderTurnsWithKminAboveWhatTheGroupsMayHold) {
  const std::vector<std::string> small_groups{"qos.default.classes.3.alpha=", "qos.default.classes.3.xoff=100KB"};
  const auto with = [&](const std::string& ecn) {
    std::vector<std::string> all = small_groups;
    all.push_back("qos.default.classes.3.ecn=" + ecn);
    return all;
  };
  Scenario below(file("ce-before-xoff"), with("{ kmin: 100KB, kmax: 200KB }"));
  below.run_to_the_end();
  EXPECT_GT(xoffs_sent(below), 0u);
  EXPECT_LT(below.at("leaf1:1", 3).first_ce, below.at("leaf1:1", 3).first_xoff);
  EXPECT_NE(below.at("leaf1:1", 3).first_xoff, Instant::never());
  Scenario above(file("ce-before-xoff"), with("{ kmin: 850KB, kmax: 900KB }"));
  above.run_to_the_end();
  EXPECT_LT(above.at("leaf1:1", 3).first_xoff, above.at("leaf1:1", 3).first_ce);
  Scenario never(file("ce-before-xoff"), with("{ kmin: 2MB, kmax: 4MB }"));
  never.run_to_the_end();
  EXPECT_EQ(never.at("leaf1:1", 3).ecn_marked, 0u);
  EXPECT_NE(never.at("leaf1:1", 3).first_xoff, Instant::never());
}

// ---- Headroom pool -------------------------------------------------------------------------------------------------

TEST(HeadroomPool, FourOfSeventeenPortsAreServedByAPoolForLessThanHalfOfThem) {
  Scenario s(file("headroom-pool"));
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  EXPECT_GT(xoffs_sent(s), 0u);
  expect_all_arrived(s);
  const Mmu& mmu = s.sw("leaf1").mmu();
  EXPECT_GT(mmu.max_pool_used(), 0u);
  EXPECT_LE(mmu.max_pool_used(), mmu.pool_size());
  // No port takes more than its link needs.
  for (const build::Headroom& h : s.lab().headrooms()) {
    EXPECT_EQ(h.configured, Bytes{});
    EXPECT_EQ(h.pooled, h.computed);
    EXPECT_LE(s.at("leaf1:" + std::to_string(h.port.value + 1), 3).max_headroom_cells * 256,
              static_cast<std::uint64_t>(h.computed.n));
  }
}

TEST(HeadroomPool, OverSubscribedByAnIncastOfAllItIsNotEnough) {
  Scenario s(file("headroom-pool"), {"traffic.incast.fan-in=16"});
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kHeadroomFull), 0u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kHeadroomFull));
  // Full but for less than a frame.
  EXPECT_GT(s.sw("leaf1").mmu().max_pool_used() + 17, s.sw("leaf1").mmu().pool_size());
  s.expect_books_balance();
}

TEST(HeadroomPool, AsLargeAsAllTogetherItLosesNothing) {
  Scenario s(file("headroom-pool"),
             {"traffic.incast.fan-in=16", "switches.default.headroom-pool=3MiB", "switches.default.buffer=8MiB"});
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  expect_all_arrived(s);
}

// ---- PFC watchdog --------------------------------------------------------------------------------------------------

// h2 takes 1 Gb/s: from 256 KiB down to 192 KiB takes 524 us, for which its port is paused. Polls every 10 us:
// detection 100 us after the pause began, and one poll more or less; restoration 100 us after it ended.
TEST(PfcWatchdog, AHungHostIsOneStormAndItsVictimGoesOn) {
  Scenario s(file("pfc-watchdog"));
  s.run_to_the_end();
  EXPECT_EQ(s.at("leaf1:2", 3).storms_detected, 1u);
  EXPECT_EQ(s.at("leaf1:2", 3).storms_restored, 1u);
  EXPECT_GT(s.drops(DropReason::kPfcWatchdog), 0u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kPfcWatchdog));
  const build::Flow& victim = s.flow("victim/h1->h3");
  EXPECT_EQ(victim.received().packets, victim.sent().packets);
  EXPECT_LT(victim.received().last, Instant{} + 400_us);
  s.expect_books_balance();
}

TEST(PfcWatchdog, WithoutItTheVictimWaitsAndNothingIsDropped) {
  Scenario s(file("pfc-watchdog"), {"switches.default.pfc-watchdog=off"});
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  expect_all_arrived(s);
  // h1 is let go when h2 has taken what is in the way, 1 MB at 1 Gb/s less the buffers: milliseconds.
  EXPECT_GT(s.flow("victim/h1->h3").received().last, Instant{} + 2_ms);
}

TEST(PfcWatchdog, AlertCountsTheStormAndChangesNothingElse) {
  Scenario alert(file("pfc-watchdog"), {"switches.default.pfc-watchdog.action=alert"});
  Scenario off(file("pfc-watchdog"), {"switches.default.pfc-watchdog=off"});
  alert.run_to_the_end();
  off.run_to_the_end();
  EXPECT_GT(alert.at("leaf1:2", 3).storms_detected, 0u);
  EXPECT_EQ(alert.flow("victim/h1->h3").received().last, off.flow("victim/h1->h3").received().last);
}

// ---- Deadlock ------------------------------------------------------------------------------------------------------

// Runs to `end` and looks twice in the time that makes a deadlock.
std::vector<telemetry::DeadlockWatch::Seen> watched(Scenario& s, Duration end, Duration least) {
  telemetry::DeadlockWatch watch(least);
  for (Duration t{}; t < end;) {
    t += least / 2;
    s.run_until(t);
    watch.look(s.lab());
  }
  return watch.seen();
}

std::vector<std::string> queues(const std::vector<std::string>& ports) {
  std::vector<std::string> all;
  for (const std::string& p : ports) all.push_back(p + " class 3");
  return all;
}

TEST(Deadlock, ARingOfSwitchesIsDetectedAndNamed) {
  Scenario s(file("deadlock-ring"));
  const auto seen = watched(s, 3_ms, 500_us);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].ring, queues({"s1:1", "s2:1", "s3:1", "s4:1", "s5:1"}));
  EXPECT_FALSE(seen[0].resolved.has_value());
  EXPECT_LE(seen[0].seen - seen[0].since, 750_us) << "the time that makes one, and half of it to the next look";
  // Nothing moves, and nothing is lost.
  const std::uint64_t sent = s.at("s1:1", 3).tx_packets;
  s.run_until(6_ms);
  EXPECT_EQ(s.at("s1:1", 3).tx_packets, sent);
  EXPECT_EQ(s.dropped(), 0u);
  s.expect_books_balance();
}

TEST(Deadlock, ARingThatWaitsForCreditsIsOneAsWell) {
  Scenario s(file("deadlock-ring"), {"qos.default.classes.3.cbfc=on"});
  const auto seen = watched(s, 3_ms, 500_us);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].ring, queues({"s1:1", "s2:1", "s3:1", "s4:1", "s5:1"}));
  EXPECT_EQ(s.at("s1:1", 3).xoff_sent, 0u);
  EXPECT_GT(s.at("s1:1", 3).stalled, 2_ms);
}

TEST(Deadlock, DownUpTurnsInAClosAreDetectedAndNamed) {
  Scenario s(file("deadlock-down-up"));
  const auto seen = watched(s, 3_ms, 500_us);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].ring,
            queues({"l1:1", "s1:2", "l2:1", "s2:2", "l3:1", "s3:2", "l4:1", "s4:2", "l5:1", "s5:2"}));
}

TEST(Deadlock, WithoutTurnsThereIsNone) {
  Scenario s(file("deadlock-down-up"), {"traffic.far.to=[h2, h3, h4, h5, h1]"});
  EXPECT_TRUE(watched(s, 3_ms, 500_us).empty());
  expect_all_arrived(s);
}

TEST(Deadlock, WithRoomOnTheLinksOrALossyClassThereIsNone) {
  for (const char* change : {"traffic.round.rate=40Gbps", "qos.default.classes.3.lossless=false"}) {
    Scenario s(file("deadlock-ring"), {change});
    EXPECT_TRUE(watched(s, 3_ms, 500_us).empty()) << change;
  }
}

// Pauses without end, from one slow host, are no deadlock: they have a root that drains.
TEST(Deadlock, ASlowReceiverIsNone) {
  Scenario s(file("pfc-watchdog"), {"switches.default.pfc-watchdog=off"});
  EXPECT_TRUE(watched(s, 4_ms, 100_us).empty());
}

TEST(Deadlock, TheWatchdogBreaksIt) {
  Scenario s(file("deadlock-ring"), {"switches.default.pfc-watchdog={ detect: 200us, restore: 200us, poll: 50us }",
                                     "traffic.round.bytes=4MB"});
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kPfcWatchdog), 0u);
  std::uint64_t detected = 0;
  for (int i = 1; i <= 5; ++i) detected += s.at("s" + std::to_string(i) + ":1", 3).storms_detected;
  EXPECT_GT(detected, 0u);
  for (const auto& d : s.lab().fabric().devices()) EXPECT_EQ(d->counters().queued, 0u) << d->name();
  s.expect_books_balance();
}

// The deadlock's chain for those outside of it: h1 waits for the ring, and in it everyone for the next.
TEST(PauseGraph, NamesWhoWaitsForWhom) {
  Scenario s(file("deadlock-ring"));
  s.run_until(3_ms);
  const telemetry::PauseGraph graph = telemetry::pause_graph(s.lab());
  ASSERT_EQ(graph.paused.size(), 10u) << "five hosts and five links of the ring";
  for (const auto& paused : graph.paused) {
    ASSERT_EQ(paused.waits_for.size(), 1u);
    EXPECT_TRUE(paused.roots.empty()) << "nothing drains anywhere";
    const std::string name = telemetry::format(s.lab(), paused.queue);
    const std::string next = telemetry::format(s.lab(), graph.paused[paused.waits_for[0]].queue);
    if (name == "s1:1 class 3") { EXPECT_EQ(next, "s2:1 class 3"); }
    if (name == "h3:1 class 3") { EXPECT_EQ(next, "s3:1 class 3"); }
  }
}

TEST(PauseGraph, EndsAtTheRootOfCongestion) {
  Scenario s(file("incast-64"));
  s.run_until(1_ms);
  const telemetry::PauseGraph graph = telemetry::pause_graph(s.lab());
  ASSERT_FALSE(graph.paused.empty());
  for (const auto& paused : graph.paused) {
    EXPECT_TRUE(paused.waits_for.empty());
    ASSERT_EQ(paused.roots.size(), 1u);
    EXPECT_EQ(telemetry::format(s.lab(), paused.roots[0]), "leaf1:1 class 3");
  }
}

}  // namespace
}  // namespace railyard::test
