// Sharing a congested port: DWRR by weight, strict priority first.
#include <gtest/gtest.h>

#include <string>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Three hosts send greedily to h4, each in a class of its own (DSCP 0, 16, 32: classes 0, 2, 4), with frames of
// different sizes. Queues may grow deep, so that every class always has something to send.
std::string three_classes(const char* classes) {
  return std::string(R"(
name: sharing
switches: { default: { buffer: 256MiB } }
qos: { default: { classes: { )") + classes + R"( } } }
nodes: { sw: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host }, h4: { kind: host } }
links: [ [h1:1, sw:1], [h2:1, sw:2], [h3:1, sw:3], [h4:1, sw:4] ]
traffic:
  - { name: a, from: h1, to: h4, dscp: 0, payload: 1024B }
  - { name: b, from: h2, to: h4, dscp: 16, payload: 4096B }
  - { name: c, from: h3, to: h4, dscp: 32, payload: 9000B }
run: { duration: 6ms }
)";
}

// What each class had of the port between two instants.
std::array<double, kPriorities> shares(Scenario& s, Duration from, Duration to) {
  std::array<std::uint64_t, kPriorities> before{};
  s.run_until(from);
  for (std::size_t k = 0; k < kPriorities; ++k) before[k] = s.port("sw:4").classes[k].tx_octets;
  s.run_until(to);
  std::array<double, kPriorities> share{};
  double sum = 0;
  for (std::size_t k = 0; k < kPriorities; ++k) {
    share[k] = static_cast<double>(s.port("sw:4").classes[k].tx_octets - before[k]);
    sum += share[k];
  }
  for (double& x : share) x /= sum;
  return share;
}

TEST(Dwrr, ClassesShareByWeightWithinOnePercentWhateverTheirFrameSizes) {
  Scenario s(three_classes("0: { weight: 1, queue-alpha: 8, alpha: 8 }, 2: { weight: 2, queue-alpha: 8, alpha: 8 }, "
                           "4: { weight: 5, queue-alpha: 8, alpha: 8 }"));
  const auto share = shares(s, 1_ms, 5_ms);
  EXPECT_NEAR(share[0], 1.0 / 8, 0.01 / 8);
  EXPECT_NEAR(share[2], 2.0 / 8, 0.01 * 2 / 8);
  EXPECT_NEAR(share[4], 5.0 / 8, 0.01 * 5 / 8);
}

TEST(Dwrr, WhatOneClassDoesNotUseTheOthersGetByWeight) {
  Scenario s(three_classes("0: { weight: 1, queue-alpha: 8, alpha: 8 }, 2: { weight: 2, queue-alpha: 8, alpha: 8 }, "
                           "4: { weight: 5, queue-alpha: 8, alpha: 8 }"),
             {"traffic.c.rate=10Gbps"});
  const auto share = shares(s, 1_ms, 5_ms);
  EXPECT_NEAR(share[4], 0.1, 0.002);
  EXPECT_NEAR(share[2] / share[0], 2.0, 0.02);
}

TEST(Strict, TheHighestClassGetsAllAndTheOthersWait) {
  Scenario s(three_classes("0: { weight: 1, queue-alpha: 8, alpha: 8 }, 2: { weight: 2, queue-alpha: 8, alpha: 8 }, "
                           "4: { strict: true, queue-alpha: 8, alpha: 8 }"));
  const auto share = shares(s, 1_ms, 5_ms);
  EXPECT_DOUBLE_EQ(share[4], 1.0);
  // Its frames wait for at most one frame of another class: the largest, 9000 + 62 octets, never for a queue.
  EXPECT_LE(s.port("sw:4").classes[4].max_depth_octets, 3u * 9062);
}

TEST(Strict, AboveDwrrItTakesItsRateAndTheRestIsSharedByWeight) {
  Scenario s(three_classes("0: { weight: 1, queue-alpha: 8, alpha: 8 }, 2: { weight: 3, queue-alpha: 8, alpha: 8 }, "
                           "4: { strict: true, queue-alpha: 8, alpha: 8 }"),
             {"traffic.c.rate=40Gbps"});
  const auto share = shares(s, 1_ms, 5_ms);
  EXPECT_NEAR(share[4], 0.4, 0.004);
  EXPECT_NEAR(share[2] / share[0], 3.0, 0.03);
}

TEST(Ets, ANicSharesItsLinkByWeightToo) {
  Scenario s(R"(
name: ets
qos: { default: { classes: { 0: { weight: 1 }, 2: { weight: 3 } } } }
nodes: { sw: { kind: switch }, h1: { kind: host }, h2: { kind: host } }
links: [ [h1:1, sw:1], [h2:1, sw:2] ]
traffic:
  - { name: a, from: h1, to: h2, dscp: 0 }
  - { name: b, from: h1, to: h2, dscp: 16 }
run: { duration: 5ms }
)");
  s.run_to_the_end();
  const double a = static_cast<double>(s.flow("a/h1->h2").received().payload_octets);
  const double b = static_cast<double>(s.flow("b/h1->h2").received().payload_octets);
  EXPECT_NEAR(b / a, 3.0, 0.03);
  EXPECT_EQ(s.dropped(), 0u);
}

}  // namespace
}  // namespace railyard::test
