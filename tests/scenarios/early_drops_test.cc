// Marking and early drops (WRED) at depths of their own, by the closed form of the ramp.
#include <string>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr double kFrame = 4158;       // 4096 of payload in a frame with FCS
constexpr double kCells = 17 * 256;   // what it takes of the buffer
constexpr double kThreshold = 100e3;  // of the ramp below, and ...
constexpr double kTop = 700e3;        // ... where it ends, at 1/2

// h1 and h2 at 60 Gb/s each towards h3 at 100 Gb/s: 1 frame of 6 is too many.
std::string lab(const std::string& drop, const std::string& more = "") {
  return R"(
name: early-drops
qos: { default: { classes: { 1: { lossless: false, queue-alpha: 128, alpha: 128, )" +
         drop + R"( } } } }
nodes: { sw: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }
links: [ [h1:1, sw:1], [h2:1, sw:2], [h3:1, sw:3] ]
traffic:
  - { name: a, from: h1, to: h3, dscp: 8, rate: 60Gbps }
  - { name: b, from: h2, to: h3, dscp: 8, rate: 60Gbps, ecn: false }
run: { duration: 20ms }
)" + more;
}
constexpr const char* kRamp = "drop: { min: 100KB, max: 700KB, probability: 50% }";

constexpr std::size_t kWred = static_cast<std::size_t>(DropReason::kWred);

double drop_share(Scenario& s, const std::string& flow) {
  const build::Flow& f = s.flow(flow);
  const auto sent = static_cast<double>(f.sent().packets);
  return (sent - static_cast<double>(f.received().packets)) / sent;
}

// The queue stands where the ramp drops what is too much: 1/6 = 1/2 (depth - min) / (max - min).
TEST(EarlyDrops, HoldTheQueueWhereTheRampDropsTheExcess) {
  Scenario s{lab(kRamp)};
  const double in_cells = kThreshold + (kTop - kThreshold) * (1.0 / 6) / 0.5;  // 300 KB
  const double expected = in_cells * kFrame / kCells;
  double sum = 0;
  int looks = 0;
  for (Duration t = 5_ms; t < 20_ms; t += 50_us, ++looks) {
    s.run_until(t);
    sum += static_cast<double>(s.at("sw:3", 1).depth_octets);
  }
  EXPECT_NEAR(sum / looks, expected, 0.05 * expected);
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kWred), 1000u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kWred));
  EXPECT_EQ(s.at("sw:3", 1).drops[kWred], s.dropped()) << "at the egress queue";
  // ECN-capable or not: alike.
  EXPECT_NEAR(drop_share(s, "a/h1->h3"), 1.0 / 6, 0.02);
  EXPECT_NEAR(drop_share(s, "b/h2->h3"), 1.0 / 6, 0.02);
  EXPECT_EQ(s.at("sw:3", 1).ecn_marked, 0u);
}

// Marks come first: from 10 to 50 KB, and everything that can be marked above; drops where their own ramp has them.
TEST(EarlyDrops, BesideMarksAtAnotherDepth) {
  Scenario s{lab(std::string(kRamp) + ", ecn: { kmin: 10KB, kmax: 50KB, pmax: 100% }")};
  s.run_to_the_end();
  EXPECT_NEAR(drop_share(s, "a/h1->h3"), 1.0 / 6, 0.02);
  EXPECT_NEAR(drop_share(s, "b/h2->h3"), 1.0 / 6, 0.02);
  const auto& a = s.flow("a/h1->h3").received();
  EXPECT_GT(static_cast<double>(a.marked), 0.97 * static_cast<double>(a.packets)) << "but for the first of them";
  EXPECT_EQ(s.flow("b/h2->h3").received().marked, 0u);
}

// A ramp for packets that cannot be marked: of those 1 in 3 is too many, 60 of 120 Gb/s.
TEST(EarlyDrops, OfOneCodepointAlone) {
  Scenario s{lab("drop: { not-ect: { min: 100KB, max: 700KB, probability: 50% } }")};
  s.run_to_the_end();
  EXPECT_EQ(s.flow("a/h1->h3").sent().packets, s.flow("a/h1->h3").received().packets);
  EXPECT_NEAR(drop_share(s, "b/h2->h3"), 1.0 / 3, 0.03);
  Scenario other{lab("drop: { min: 100KB, max: 700KB, probability: 50%, not-ect: { min: 20MB, max: 30MB } }")};
  other.run_to_the_end();
  EXPECT_EQ(other.flow("b/h2->h3").sent().packets, other.flow("b/h2->h3").received().packets);
  EXPECT_NEAR(drop_share(other, "a/h1->h3"), 1.0 / 3, 0.03);
}

// Above `max` everything is dropped: the queue goes no deeper than a frame.
TEST(EarlyDrops, AreCertainAboveTheRamp) {
  Scenario s{lab("drop: { min: 200KB, max: 200KB, probability: 0% }")};
  s.run_to_the_end();
  EXPECT_LE(static_cast<double>(s.at("sw:3", 1).max_depth_octets), 200e3 * kFrame / kCells + 2 * kFrame);
  EXPECT_GT(s.drops(DropReason::kWred), 1000u);
}

// SAI trims what the buffer refuses; what is dropped early is gone.
TEST(EarlyDrops, AreNotTrimmed) {
  Scenario s{lab(std::string(kRamp) + ", trim: { class: 5, dscp: 40 }")};
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kWred), 1000u);
  EXPECT_EQ(s.at("sw:3", 1).trimmed, 0u);
  Scenario full{lab("queue-limit: 100KB, trim: { class: 5, dscp: 40 }", ""), {"qos.default.classes.1.queue-alpha="}};
  full.run_to_the_end();
  EXPECT_EQ(full.drops(DropReason::kWred), 0u);
  EXPECT_GT(full.at("sw:3", 1).trimmed, 1000u);
}

// mark-before-drop.yaml: 1.07 MB of cells, by the same closed form.
TEST(EarlyDrops, TheReadyScenarioDoesWhatItSays) {
  Scenario s = Scenario::ready("mark-before-drop");
  const double expected = (800e3 + 800e3 * (1.0 / 6) / 0.5) * kFrame / kCells;
  double sum = 0;
  int looks = 0;
  for (Duration t = 8_ms; t < 20_ms; t += 50_us, ++looks) {
    s.run_until(t);
    sum += static_cast<double>(s.at("leaf1:3", 1).depth_octets);
  }
  EXPECT_NEAR(sum / looks, expected, 0.05 * expected);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kWred));
  EXPECT_GT(s.drops(DropReason::kWred), 100u);
  EXPECT_GT(s.at("leaf1:3", 1).ecn_marked, 1000u);
}

TEST(EarlyDrops, ChangeWhileTheLabRuns) {
  Scenario s{lab("drop: off")};
  s.set_at(5_ms, {std::string("qos.default.classes.1.drop={ min: 100KB, max: 200KB }")});
  s.run_until(5_ms);
  EXPECT_EQ(s.dropped(), 0u);
  s.run_until(12_ms);
  EXPECT_GT(s.drops(DropReason::kWred), 1000u);
  s.set_at(12_ms, {"qos.default.classes.1.drop=off"});
  s.run_until(13_ms);
  const std::uint64_t before = s.dropped();
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), before);
}

}  // namespace
}  // namespace railyard::test
