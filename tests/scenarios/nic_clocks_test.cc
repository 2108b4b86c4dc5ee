// NICs have clocks of their own: equal senders are not in step, and who loses is drawn from the seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/build/nic_clocks.h"
#include "control/spec/load.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Per cent of what each flow of traffic with such names sent that was lost, in the order of flows.
std::vector<double> losses(Scenario& s, const std::string& prefix) {
  std::vector<double> lost;
  const report::Report r = s.report();
  for (const auto& f : r.flows)
    if (f.name.starts_with(prefix))
      lost.push_back(100.0 * static_cast<double>(f.lost) / static_cast<double>(f.packets));
  return lost;
}

void expect_each_loses(const std::vector<double>& lost, std::size_t flows, double expected, const std::string& what) {
  ASSERT_EQ(lost.size(), flows) << what;
  for (std::size_t i = 0; i < lost.size(); ++i) EXPECT_NEAR(lost[i], expected, 1.5) << what << ", flow " << i;
}

std::vector<std::string> with_seed(int seed) { return {fmt::format("run.seed={}", seed)}; }

//   h1 --+
//   h2 --+-- leaf1 -- h3     100 Gb/s each; 30 % of the link lossless, lossy flows of 20 % each: 80 %
//
// The lossless flows lose nothing; of the lossy 80 % 70 % pass: each loses (80 - 70) / 80 = 12.5 %. The first megabyte
// fills the queue: 20 ms carry 250 MB, of which 1 MB more passes, 0.5 % of the lossy 200 MB.
constexpr const char* kEqualSenders = R"(
name: equal-senders
qos:
  default:
    dscp: { 26: 3, 34: 4, 8: 1 }
    classes:
      1: { lossless: false, weight: 25, ecn: off, queue-limit: 1MB }
      3: { lossless: true, weight: 35 }
      4: { lossless: true, weight: 35 }
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 3 }
defaults: { link: { rate: 100Gbps, cable: 3m } }
traffic:
  - { name: test3, from: h1, to: h3, dscp: 26, payload: 960B, rate: 20Gbps }
  - { name: test4, from: h2, to: h3, dscp: 34, payload: 960B, rate: 10Gbps }
  - { name: bg1, from: h1, to: h3, dscp: 8, payload: 960B, rate: 20Gbps, flows: 2, ecn: false }
  - { name: bg2, from: h2, to: h3, dscp: 8, payload: 960B, rate: 20Gbps, flows: 2, ecn: false }
run: { duration: 20ms, drain: 10ms }
)";

TEST(NicClocks, EqualLossyFlowsBesideLosslessOnesLoseEqually) {
  for (int seed = 1; seed <= 5; ++seed) {
    Scenario s = Scenario::with_clocks(kEqualSenders, with_seed(seed));
    s.run_to_the_end();
    expect_each_loses(losses(s, "bg"), 4, 12.0, fmt::format("seed {}", seed));
    for (const double lost : losses(s, "test")) EXPECT_EQ(lost, 0.0);
  }
}

// `n` hosts send `gbps` each to one more, all links 100 Gb/s, through a queue of 200 KB.
std::string incast(int n, double gbps, const std::string& more_switch = "", const std::string& more_traffic = "") {
  return fmt::format(R"(
name: incast
qos: {{ default: {{ classes: {{ 1: {{ lossless: false, queue-limit: 200KB, ecn: off }} }} }} }}
switches: {{ default: {{ {} }} }}
topology: {{ preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: {} }}
defaults: {{ link: {{ rate: 100Gbps, cable: 3m }} }}
traffic: [ {{ name: t, pattern: incast, from: h*, to: h1, dscp: 8, payload: 1400B, rate: {}Gbps, ecn: false {} }} ]
run: {{ duration: 10ms, drain: 1ms }}
)",
                     more_switch, n + 1, gbps, more_traffic);
}

// Of 10 ms of n x gbps 100 Gb/s pass, and 200 KB of 125 MB more.
double expected_loss(int n, double gbps) { return 100.0 * (1 - (125.0 + 0.2) / (1.25 * n * gbps)); }

TEST(NicClocks, EqualSendersIntoOneQueueLoseEquallyHoweverManyTheyAre) {
  for (const auto& [n, gbps] : {std::pair{2, 60.0}, {3, 40.0}, {4, 30.0}, {7, 20.0}, {16, 8.0}})
    for (int seed = 1; seed <= 3; ++seed) {
      Scenario s = Scenario::with_clocks(incast(n, gbps), with_seed(seed));
      s.run_to_the_end();
      expect_each_loses(losses(s, "t"), static_cast<std::size_t>(n), expected_loss(n, gbps),
                        fmt::format("{} senders of {} Gb/s, seed {}", n, gbps, seed));
    }
}

// The faster a sender, the less room for jitter: at 95 % one frame in 19 has a jitter of its own, 4500 in 10 ms.
TEST(NicClocks, NearLineRateEqualSendersLoseEquallyToo) {
  for (const double gbps : {80.0, 95.0})
    for (int seed = 1; seed <= 5; ++seed) {
      Scenario s = Scenario::with_clocks(incast(4, gbps), with_seed(seed));
      s.run_to_the_end();
      expect_each_loses(losses(s, "t"), 4, expected_loss(4, gbps), fmt::format("{} Gb/s, seed {}", gbps, seed));
    }
}

// What keeps to a rate by itself: unreliable QPs, and datagrams of Ultra Ethernet.
TEST(NicClocks, UnreliableTransportsAtEqualRatesLoseEqually) {
  for (const char* transport : {"transport: roce, qp-type: uc, path-mtu: 1024, message: 64KB",
                                "transport: uet, service: uud, message: 4096B, outstanding: 64"})
    for (int seed = 1; seed <= 5; ++seed) {
      Scenario s = Scenario::with_clocks(fmt::format(R"(
name: unreliable
qos: {{ default: {{ classes: {{ 1: {{ lossless: false, queue-limit: 200KB, ecn: off }} }} }} }}
topology: {{ preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 5 }}
defaults: {{ link: {{ rate: 100Gbps, cable: 3m }} }}
traffic: [ {{ name: t, pattern: incast, from: h*, to: h1, dscp: 8, rate: 30Gbps, {} }} ]
run: {{ duration: 10ms, drain: 1ms }}
)",
                                                     transport),
                                         with_seed(seed));
      s.run_to_the_end();
      expect_each_loses(losses(s, "t"), 4, expected_loss(4, 30), fmt::format("{}, seed {}", transport, seed));
    }
}

TEST(NicClocks, ThroughACutThroughSwitchAsWell) {
  Scenario s = Scenario::with_clocks(incast(4, 30, "mode: cut-through"));
  s.run_to_the_end();
  expect_each_loses(losses(s, "t"), 4, expected_loss(4, 30), "cut-through");
}

TEST(NicClocks, InPhaseOneSenderLosesWhatIsLost) {
  Scenario s(incast(4, 30));
  s.run_to_the_end();
  const std::vector<double> lost = losses(s, "t");
  EXPECT_GT(std::ranges::max(lost), 60.0) << "clock-error: 0 is the exact phase";
  EXPECT_EQ(std::ranges::min(lost), 0.0);
}

TEST(NicClocks, TheSeedDrawsWhoLosesAndNothingElseDoes) {
  const auto digest = [](int seed, std::size_t workers) {
    EngineConfig config;
    config.digest = true;
    config.workers = workers;
    Scenario s = Scenario::with_clocks(incast(4, 30), with_seed(seed), config);
    s.run_to_the_end();
    return s.digest();
  };
  for (std::size_t workers = 1; workers <= 3; ++workers) EXPECT_EQ(digest(1, workers), digest(1, 1)) << workers;
  EXPECT_NE(digest(1, 1), digest(2, 1));
}

TEST(NicClocks, ANicMoreLeavesTheOthersAsTheyWere) {
  const spec::Lab few = spec::parse(incast(4, 30), "few.yaml");
  const spec::Lab many = spec::parse(incast(9, 30), "many.yaml");
  const build::NicClocks a(few);
  const build::NicClocks b(many);
  for (int h = 1; h <= 5; ++h) {
    const spec::PortName nic{fmt::format("h{}", h), 1};
    EXPECT_EQ(a.of(nic), b.of(nic));
    EXPECT_GE(a.of(nic).slower_ppb, 50'000u);
    EXPECT_LE(a.of(nic).slower_ppb, 250'000u);
    EXPECT_FALSE(a.of(nic).exact());
    if (h > 1) {
      EXPECT_NE(a.of(nic), a.of({"h1", 1}));
    }
  }
}

// A greedy sender fills its own link, and no more: its clock is 50..250 ppm slower than the link's rate, and queues
// behind it do not grow.
TEST(NicClocks, ALineRateFlowLeavesNoQueue) {
  for (int seed = 1; seed <= 3; ++seed) {
    Scenario s = Scenario::with_clocks(R"(
name: line
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }
defaults: { link: { rate: 100Gbps, cable: 3m } }
traffic: [ { name: t, from: h1, to: h2, payload: 4096B } ]
run: { duration: 10ms, drain: 1ms }
)",
                                       with_seed(seed));
    s.run_until(9_ms);
    const double slower = build::NicClocks(s.lab().spec()).of({"h1", 1}).slower_ppb * 1e-9;
    // A frame takes 4096 + 82 octets on the wire, 334.24 ns.
    const double expected = 9'000'000 / (334.24 * (1 + slower));
    const auto sent = static_cast<double>(s.at("h1:1", 3).tx_packets);
    EXPECT_NEAR(sent, expected, 1.5);
    for (const char* port : {"leaf1:2", "leaf2:1"})
      EXPECT_LE(s.at(port, 3).max_depth_octets, 2u * 4158u) << port;
  }
}

// Senders that fill their links: who is first after a departure turns with the difference of two clocks, at 120 ns a
// frame some 8 times in 10 ms per 100 ppm. What a turn leaves over averages out as 1 / time.
TEST(NicClocks, SendersAtLineRateBecomeEqualWithTime) {
  const auto deviation = [](const char* duration) {
    double sum = 0;
    for (int seed = 1; seed <= 5; ++seed) {
      Scenario s = Scenario::with_clocks(incast(4, 100),
                                         {fmt::format("run.seed={}", seed), std::string("run.duration=") + duration});
      s.run_to_the_end();
      double most = 0;
      for (const double lost : losses(s, "t")) most = std::max(most, std::abs(lost - 75.0));
      sum += most;
    }
    return sum / 5;
  };
  EXPECT_LT(deviation("40ms"), deviation("10ms") / 2);
}

TEST(NicClocks, SendersAtLineRateTakeTurns) {
  for (int seed = 1; seed <= 3; ++seed) {
    Scenario s = Scenario::with_clocks(incast(4, 100), with_seed(seed));
    s.run_to_the_end();
    const std::vector<double> lost = losses(s, "t");
    EXPECT_GT(std::ranges::min(lost), 25.0);
    EXPECT_LT(std::ranges::max(lost), 95.0);
  }
}

}  // namespace
}  // namespace railyard::test
