// A lab that is told other things while it runs does them from that instant on, and loses nothing by it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/build/changes.h"
#include "dataplane/base/rng.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

// Eight hosts send to one over two tiers, losslessly.
constexpr const char* kIncast = R"(
name: incast
switches: { default: { buffer: 16MiB } }
qos: { default: { classes: { 3: { lossless: true, alpha: 1/8, ecn: { kmin: 14MB, kmax: 15MB } } } } }
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 4,
            host-link: { rate: 100Gbps, cable: 3m }, fabric-link: { rate: 200Gbps, cable: 100m } }
traffic: [ { name: incast, pattern: incast, from: [h5, h6, h7, h8, h9, h10, h11, h12], to: h1, dscp: 26 } ]
run: { duration: 400us }
)";

struct Totals {
  std::uint64_t marks = 0, xoffs = 0;
};
Totals totals(Scenario& s) {
  Totals t;
  for (const auto& d : s.lab().fabric().devices())
    for (const PortCounters& p : d->counters().ports)
      for (const ClassCounters& c : p.classes) t.marks += c.ecn_marked, t.xoffs += c.xoff_sent;
  return t;
}

TEST(LiveSettings, ALowerEcnThresholdMarksFromThenOn) {
  Scenario s(kIncast);
  s.run_until(100_us);
  EXPECT_EQ(totals(s).marks, 0u);
  s.set_at(100_us, {"qos.default.classes.3.ecn.kmin=10KB", "qos.default.classes.3.ecn.kmax=20KB"});
  s.run_until(150_us);
  const std::uint64_t marked = totals(s).marks;
  EXPECT_GT(marked, 100u);
  s.set_at(150_us, {"qos.default.classes.3.ecn=off"});
  s.run_until(200_us);
  EXPECT_EQ(totals(s).marks, marked);
}

TEST(LiveSettings, ASmallerAlphaPausesAtOnce) {
  Scenario s(kIncast, {"qos.default.classes.3.alpha=8", "switches.default.buffer=64MiB"});
  s.run_until(30_us);
  ASSERT_EQ(totals(s).xoffs, 0u);
  s.set_at(30_us, {"qos.default.classes.3.alpha=1/256"});
  s.run_until(30_us + 1_us);  // what a frame in transmission takes, and more
  EXPECT_GT(totals(s).xoffs, 0u);
  s.set_at(40_us, {"qos.default.classes.3.alpha=8"});
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  s.expect_books_balance();
}

double share_of_a(Scenario& s, Duration from, Duration to) {
  std::array<std::uint64_t, 2> sent{};
  for (const bool end : {false, true}) {
    s.run_until(end ? to : from);
    for (const std::size_t k : {0u, 1u}) sent[k] = s.at("sw:3", k == 0 ? 0 : 2).tx_octets - (end ? sent[k] : 0);
  }
  return static_cast<double>(sent[0]) / static_cast<double>(sent[0] + sent[1]);
}

// Two hosts send greedily to a third, in classes 0 and 2.
constexpr const char* kSharing = R"(
name: sharing
switches: { default: { buffer: 256MiB } }
qos: { default: { classes: { 0: { weight: 1, queue-alpha: 8, alpha: 8 }, 2: { weight: 1, queue-alpha: 8, alpha: 8 } } } }
nodes: { sw: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }
links: [ [h1:1, sw:1], [h2:1, sw:2], [h3:1, sw:3] ]
traffic:
  - { name: a, from: h1, to: h3, dscp: 0, payload: 1024B }
  - { name: b, from: h2, to: h3, dscp: 16, payload: 9000B }
run: { duration: 10ms }
)";

TEST(LiveSettings, WeightsAndStrictnessShareFromThenOn) {
  Scenario s(kSharing);
  EXPECT_NEAR(share_of_a(s, 500_us, 1_ms), 0.5, 0.01);
  s.set_at(1_ms, {"qos.default.classes.0.weight=9"});
  EXPECT_NEAR(share_of_a(s, 1_ms, 2_ms), 0.9, 0.01);
  s.set_at(2_ms, {"qos.default.classes.2.weight=", "qos.default.classes.2.strict=true"});
  EXPECT_NEAR(share_of_a(s, 2_ms, 2_ms + 500_us), 0.0, 0.001);
  s.set_at(2_ms + 500_us, {"qos.default.classes.2.strict=", "qos.default.classes.2.weight=9"});
  EXPECT_NEAR(share_of_a(s, 2_ms + 500_us, 3_ms), 0.5, 0.01);
}

TEST(LiveSettings, OneFlowTakesOnePathOrAll) {
  Scenario s(kIncast, {"traffic.0.from=h5", "traffic.0.rate=50Gbps"});
  const auto paths = [&](Duration from, Duration to) {
    std::array<std::uint64_t, 2> sent{};
    for (const bool end : {false, true}) {
      s.run_until(end ? to : from);
      for (const std::size_t p : {0u, 1u})
        sent[p] = s.at(p == 0 ? "spine1:1" : "spine2:1", 3).tx_packets - (end ? sent[p] : 0);
    }
    return std::pair(std::min(sent[0], sent[1]), std::max(sent[0], sent[1]));
  };
  EXPECT_EQ(paths(20_us, 60_us).first, 0u);
  s.set_at(60_us, {"qos.default.classes.3.path=spray"});
  const auto sprayed = paths(62_us, 100_us);
  EXPECT_LE(sprayed.second - sprayed.first, 2u);
  s.set_at(100_us, {"qos.default.classes.3.path=ecmp"});
  EXPECT_EQ(paths(110_us, 150_us).first, 0u);
}

TEST(LiveSettings, LinksHaveAnotherRateFromThenOn) {
  Scenario s(kIncast);
  const auto gbps = [&](Duration from, Duration to) {
    s.run_until(from);
    const std::uint64_t before = s.at("h1:1", 3).rx_octets;
    s.run_until(to);
    return static_cast<double>(s.at("h1:1", 3).rx_octets - before) * 8e3 / static_cast<double>((to - from).ps);
  };
  constexpr double kOfFrames = 4158.0 / 4178.0;  // without preamble and gap
  EXPECT_NEAR(gbps(50_us, 100_us), 100 * kOfFrames, 1.0);
  s.set_at(100_us, {"topology.host-link.rate=25Gbps"});
  EXPECT_NEAR(gbps(105_us, 150_us), 25 * kOfFrames, 1.0);
  s.set_at(150_us, {"topology.host-link.rate=200Gbps"});
  EXPECT_NEAR(gbps(155_us, 200_us), 200 * kOfFrames, 3.0);
  EXPECT_EQ(s.lab().rate(s.lab().port({"h1", 1})), 200_Gbps);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  s.expect_books_balance();
}

TEST(LiveSettings, GeneratorsKeepToAnotherRateFromThenOn) {
  Scenario s(kIncast, {"traffic.0.from=h5", "traffic.0.rate=10Gbps"});
  const auto gbps = [&](Duration from, Duration to) {
    s.run_until(from);
    const std::uint64_t before = s.at("h5:1", 3).tx_octets;
    s.run_until(to);
    return static_cast<double>(s.at("h5:1", 3).tx_octets - before) * 8e3 / static_cast<double>((to - from).ps);
  };
  EXPECT_NEAR(gbps(20_us, 100_us), 10, 0.6);
  s.set_at(100_us, {"traffic.incast.rate=40Gbps"});
  EXPECT_NEAR(gbps(100_us, 180_us), 40, 0.6);
  s.set_at(180_us, {"traffic.incast.rate=greedy"});
  EXPECT_NEAR(gbps(180_us, 260_us), 99.5, 0.6);
  s.set_at(260_us, {"traffic.incast.rate=5Gbps"});
  EXPECT_NEAR(gbps(261_us, 380_us), 5, 0.6);
}

// A link gets faster just when its switch has decided to pause the sender: the XOFF still waits behind a frame at the
// old rate and takes effect after the old response time, while data comes at the new rate. Headroom for either rate
// alone does not hold that.
TEST(LiveSettings, HeadroomIsEnoughWhileALinkGetsFaster) {
  constexpr const char* kSlowReceiver = R"(
name: faster
switches: { default: { buffer: 64MiB } }
qos: { default: { classes: { 3: { lossless: true, xoff: 100KB, xon-offset: 50KB, min-frame-size: 4096B } } } }
hosts: { default: {}, slow: { receive: { rate: 20Gbps, buffer: 4MiB, xoff: 100KB, xon: 50KB } } }
nodes: { sw: { kind: switch }, h1: { kind: host }, h3: { kind: host, profile: slow } }
links: [ [h1:1, sw:1, { rate: 25Gbps }], [sw:2, h3:1, { rate: 400Gbps }] ]
traffic:
  - { name: t, from: h1, to: h3, dscp: 26, payload: 4096B }
  - { name: back, from: h3, to: h1, dscp: 0, payload: 9172B }
run: { duration: 4ms }
)";
  for (const std::uint64_t seed : {1ull, 2ull, 3ull, 4ull}) {
    Scenario s(kSlowReceiver);
    RngStream rng(Seed{seed}, "faster");
    Duration t = 100_us;
    for (int i = 0; i < 20; ++i) {
      t += 50_us + Duration{static_cast<std::int64_t>(rng.below(20'000'000))};
      s.set_at(t, {"links.h1:1.rate=400Gbps"});
      t += 50_us + Duration{static_cast<std::int64_t>(rng.below(20'000'000))};
      s.set_at(t, {"links.sw:1.rate=25Gbps"});
    }
    s.run_to_the_end();
    EXPECT_EQ(s.drops(DropReason::kHeadroomFull), 0u) << "seed " << seed;
    EXPECT_GT(totals(s).xoffs, 50u);
    s.expect_books_balance();
  }
}

// Whatever is set, however often: nothing that is lossless is lost, nobody stays paused, and the books balance.
TEST(LiveSettings, ALosslessFabricStaysLosslessWhateverIsSet) {
  const std::vector<std::vector<std::string>> sets{
      {"qos.default.classes.3.alpha=1/256"},
      {"qos.default.classes.3.alpha=4"},
      {"qos.default.classes.3.alpha=", "qos.default.classes.3.xoff=20KB"},
      {"qos.default.classes.3.xoff=", "qos.default.classes.3.alpha=1/16"},
      {"qos.default.classes.3.xon-offset=2KB"},
      {"qos.default.classes.3.xon-offset=18KB"},
      {"topology.host-link.rate=400Gbps"},
      {"topology.host-link.rate=20Gbps"},
      {"topology.fabric-link.rate=400Gbps"},
      {"topology.fabric-link.rate=25Gbps"},
      {"topology.host-link.rate=100Gbps", "topology.fabric-link.rate=100Gbps"},
      {"qos.default.classes.3.path=spray"},
      {"qos.default.classes.3.path=ecmp"},
      {"traffic.incast.rate=20Gbps"},
      {"traffic.incast.rate=greedy"},
  };
  for (const std::uint64_t seed : {1ull, 2ull, 3ull}) {
    Scenario s(kIncast);
    RngStream rng(Seed{seed}, "sets");
    Duration t{};
    bool fixed = false;
    for (int i = 0; i < 60; ++i) {
      t += Duration{static_cast<std::int64_t>(rng.below(10'000'000))};
      const std::size_t n = rng.below(sets.size());
      // alpha and xoff are one or the other.
      if ((n <= 2 && fixed) || (n == 3 && !fixed)) continue;
      if (n == 2 || n == 3) fixed = n == 2;
      s.set_at(t, sets[n]);
      if (i % 8 == 0) {
        s.run_until(t);
        s.expect_books_balance();
      }
    }
    s.run_to_the_end();
    EXPECT_EQ(s.dropped(), 0u) << "seed " << seed;
    s.expect_books_balance();
    const report::Report r = s.report();
    EXPECT_EQ(r.audit.queued + r.audit.on_the_wire, 0u) << "somebody is still paused; seed " << seed;
    EXPECT_GT(totals(s).xoffs, 0u);
  }
}

}  // namespace
}  // namespace railyard::test
