// Queues, marks and pauses by closed form, on a port that gets more than it can send.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

constexpr double kFrame = 4158;      // 4096 of payload in a frame with FCS
constexpr double kOnTheWire = 4178;  // with preamble and gap

// h1 and h2 at 100 Gb/s towards h3 at 100 Gb/s, all on one switch.
std::string two_to_one(const char* classes, const char* more = "") {
  return std::string(R"(
name: two-to-one
qos: { default: { classes: { )") + classes + R"( } } }
nodes:
  sw: { kind: switch }
  h1: { kind: host }
  h2: { kind: host }
  h3: { kind: host }
links: [ [h1:1, sw:1], [h2:1, sw:2], [h3:1, sw:3] ]
traffic: [ { name: t, pattern: incast, from: [h1, h2], to: h3, dscp: 26 } ]
run: { duration: 1ms }
)" + more;
}

TEST(QueueGrowth, IsTheDifferenceBetweenWhatComesAndWhatGoes) {
  Scenario s(two_to_one("3: { lossless: false, queue-alpha: 8, alpha: 8 }"));
  // Two senders at line rate, one receiver: one frame more per frame time, 4158 octets per 334.24 ns.
  for (const Duration t : {100_us, 200_us, 400_us}) {
    s.run_until(t);
    const double frames = (static_cast<double>(t.ps) / 1e12 - 1.3e-6) * 100e9 / 8 / kOnTheWire;
    EXPECT_NEAR(static_cast<double>(s.at("sw:3", 3).depth_octets), frames * kFrame, 4 * kFrame);
  }
  EXPECT_EQ(s.dropped(), 0u);
}

TEST(QueueGrowth, ADynamicThresholdHoldsAQueueAtItsShareOfTheBuffer) {
  // One lossy queue with alpha 1 gets alpha / (1 + alpha) of the shared memory: half. 8 MiB in cells of 256.
  Scenario s(
      two_to_one("3: { lossless: false, queue-alpha: 1, alpha: 128 }", "switches: { default: { buffer: 8MiB } }"));
  s.run_until(1_ms);
  const ClassCounters c = s.at("sw:3", 3);
  const double cells = static_cast<double>(c.max_depth_octets) / kFrame * std::ceil(kFrame / 256);
  EXPECT_NEAR(cells / (8 << 20) * 256, 0.5, 0.005);
  EXPECT_GT(c.drops[static_cast<std::size_t>(DropReason::kEgressFull)], 1000u);
  // What is dropped there is missing at the receiver, nothing else.
  s.run_to_the_end();
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const build::Flow& f : s.lab().flows()) sent += f.sent().packets, received += f.received().packets;
  EXPECT_EQ(sent, received + s.drops(DropReason::kEgressFull));
}

// Alpha sharing: N congested queues get alpha B / (1 + N alpha) each.
TEST(QueueGrowth, NQueuesShareTheBufferByAlpha) {
  for (const int n : {1, 2, 4}) {
    std::string yaml = R"(
name: alpha
switches: { default: { buffer: 8MiB } }
qos: { default: { classes: { 3: { lossless: false, queue-alpha: 1/2, alpha: 128 } } } }
nodes: { sw: { kind: switch })";
    for (int h = 1; h <= 3 * n; ++h) yaml += ", h" + std::to_string(h) + ": { kind: host }";
    yaml += " }\nlinks: [";
    for (int h = 1; h <= 3 * n; ++h)
      yaml += (h > 1 ? ", [h" : " [h") + std::to_string(h) + ":1, sw:" + std::to_string(h) + "]";
    yaml += " ]\ntraffic:\n";
    for (int q = 0; q < n; ++q)
      yaml += "  - { name: t" + std::to_string(q) + ", pattern: incast, from: [h" + std::to_string(3 * q + 2) + ", h" +
              std::to_string(3 * q + 3) + "], to: h" + std::to_string(3 * q + 1) + " }\n";
    yaml += "run: { duration: 2ms }\n";
    Scenario s(yaml);
    s.run_until(2_ms);
    for (int q = 0; q < n; ++q) {
      const ClassCounters c = s.at("sw:" + std::to_string(3 * q + 1), 3);
      const double share = static_cast<double>(c.depth_octets) / kFrame * std::ceil(kFrame / 256) * 256 / (8 << 20);
      EXPECT_NEAR(share, 0.5 / (1 + n * 0.5), 0.01) << n << " queues, queue " << q;
    }
  }
}

// Two senders into one port of a switch, more than 1e5 frames in each bin of 100 KB: within 5 %, without allowance for
// chance. A queue that grows by 0.08 % of what passes is as deep behind a frame as it was before it, nearly.
TEST(Marking, IsWithinFivePercentOfTheRampInEveryBin) {
  for (const bool at_dequeue : {false, true}) {
    Scenario s = Scenario::ready("ecn-ramp", {std::string("qos.default.classes.3.ecn.mark=") +
                                              (at_dequeue ? "dequeue" : "enqueue")});
    Recorder tap;
    s.sw("leaf1").tap(PortIndex{2}, &tap);
    s.run_to_the_end();
    EXPECT_EQ(s.dropped(), 0u);
    const double margin = at_dequeue ? 0 : 2e3;
    struct Bin {
      double frames = 0, marks = 0, expected = 0;
    };
    std::map<int, Bin> bins;  // of 100 KB
    for (const Seen& f : tap.frames) {
      if (f.note.event != TapNote::Event::kSent || f.kind == FrameKind::kMacControl) continue;
      const auto depth = static_cast<double>(f.note.depth_octets);
      Bin& bin = bins[static_cast<int>(depth / 100e3)];
      ++bin.frames;
      bin.marks += f.note.marked_here ? 1 : 0;
      bin.expected += 0.5 * (depth - 100e3) / 600e3;
      if (depth <= 100e3 - margin) {
        ASSERT_FALSE(f.note.marked_here) << depth;
      }
      // When traffic has stopped the queue drains, and what leaves has found more than it leaves behind.
      if (depth > 700e3 + margin) {
        ASSERT_TRUE(f.note.marked_here) << depth;
      }
      if (f.at > Instant{} + 85_ms) break;
    }
    for (int i = 1; i <= 6; ++i) {
      const Bin& bin = bins[i];
      EXPECT_GE(bin.frames, 1e5) << i;
      EXPECT_NEAR(bin.marks / bin.expected, 1, 0.05) << "from " << i << "00 KB" << (at_dequeue ? ", dequeue" : "");
    }
    EXPECT_GT(bins[0].frames, 1e5) << "none marked";
    EXPECT_GT(bins[7].frames, 1e5) << "all marked";
  }
}

TEST(Marking, FollowsTheRampBetweenKminAndKmax) {
  // Marks are decided by the queue left behind, which is what the tap reports with each frame.
  Scenario s(two_to_one("3: { lossless: false, queue-alpha: 128, alpha: 128, "
                        "ecn: { kmin: 400KB, kmax: 4MB, pmax: 50%, mark: dequeue } }",
                        "switches: { default: { buffer: 64MiB } }"),
             {"run.duration=40ms", "traffic.t.rate=50.6Gbps"});
  Recorder tap;
  s.lab().fabric()[s.lab().port({"sw", 3}).device].tap(PortIndex{2}, &tap);
  s.run_to_the_end();
  constexpr double kCells = 17 * 256 / kFrame;  // the law counts cells
  std::map<int, std::pair<int, int>> bins;      // depth in 400 KB: frames, marks
  for (const Seen& f : tap.frames) {
    if (f.note.event != TapNote::Event::kSent || f.kind == FrameKind::kMacControl) continue;
    const double depth = static_cast<double>(f.note.depth_octets) * kCells;
    if (depth <= 400e3) {
      EXPECT_FALSE(f.note.marked_here) << depth;
    }
    if (depth > 4e6 + 2 * kFrame) {
      EXPECT_TRUE(f.note.marked_here) << depth;
    }
    auto& [frames, marks] = bins[static_cast<int>(depth / 400e3)];
    ++frames;
    marks += f.note.marked_here ? 1 : 0;
  }
  int checked = 0;
  for (const auto& [bin, counts] : bins) {
    if (bin < 1 || bin > 8 || counts.first < 1500) continue;
    const double depth = (bin + 0.5) * 400e3;
    const double expected = 0.5 * (depth - 400e3) / (4e6 - 400e3);
    const double deviation = 3.5 * std::sqrt(expected * (1 - expected) / counts.first);  // of chance
    EXPECT_NEAR(static_cast<double>(counts.second) / counts.first, expected, 0.05 * expected + deviation)
        << "at " << depth;
    ++checked;
  }
  EXPECT_GE(checked, 4);
}

TEST(Marking, NeverTouchesNotEct) {
  Scenario s(two_to_one("3: { lossless: false, queue-alpha: 8, alpha: 128, ecn: { kmin: 0, kmax: 0, pmax: 100% } }"),
             {"traffic.t.ecn=false"});
  s.run_to_the_end();
  EXPECT_GT(s.at("sw:3", 3).max_depth_octets, 1'000'000u);
  EXPECT_EQ(s.at("sw:3", 3).ecn_marked, 0u);
  for (const build::Flow& f : s.lab().flows()) EXPECT_EQ(f.received().marked, 0u);
}

TEST(Marking, WredDropsNotEctInTheSamePlace) {
  Scenario s(two_to_one("3: { lossless: false, queue-alpha: 8, alpha: 128, "
                        "ecn: { kmin: 100KB, kmax: 200KB, pmax: 100%, drop-not-ect: true } }"),
             {"traffic.t.ecn=false"});
  s.run_to_the_end();
  EXPECT_GT(s.drops(DropReason::kWred), 100u);
  EXPECT_EQ(s.dropped(), s.drops(DropReason::kWred));
  EXPECT_LE(s.at("sw:3", 3).max_depth_octets, 220'000u);  // kept at kmax by dropping
}

}  // namespace
}  // namespace railyard::test
