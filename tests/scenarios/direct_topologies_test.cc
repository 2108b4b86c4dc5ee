// Direct topologies under load: no deadlock where classes change at date lines, and the throughput that each path policy
// of a dragonfly is known for.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/telemetry/deadlock.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace railyard::literals;
using testing::IsEmpty;
using testing::SizeIs;

double goodput_bps(const report::Report& r) {
  double sum = 0;
  for (const report::FlowReport& f : r.flows) sum += f.goodput_bps().value_or(0);
  return sum;
}

TEST(Torus, TornadoUnderPfcCompletes) {
  Scenario s = Scenario::ready("torus-tornado", {"traffic.tornado.bytes=1MB"});
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  const report::Report r = s.report();
  EXPECT_THAT(r.deadlocks, IsEmpty());
  EXPECT_GT(s.at("s1:1", 3).xoff_sent, 0u) << "without pauses it shows nothing";
  for (const report::FlowReport& f : r.flows) EXPECT_EQ(f.delivered_bytes, f.asked_bytes) << f.name;
}

// The same without date lines: each row is a circle of buffers.
TEST(Torus, WithoutDateLinesTheTornadoIsADeadlock) {
  Scenario s = Scenario::ready("torus-tornado", {"traffic.tornado.bytes=1MB", "topology.date-lines=false",
                                                 "qos.default.classes.3.accept-deadlock=true"});
  s.run_until(5_ms);
  EXPECT_EQ(s.dropped(), 0u);
  for (const report::FlowReport& f : s.report().flows) EXPECT_LT(f.delivered_bytes, f.asked_bytes) << f.name;
  EXPECT_THAT(telemetry::find_deadlocks(telemetry::pause_graph(s.lab()), 1_ms), SizeIs(5)) << "one per row";
}

// 72 hosts of 100 Gb/s. Payload is 4,096 of the 4,176 octets that a frame takes of the wire.
constexpr double kAll = 72 * 100e9 * 4096 / 4176;

double dragonfly(const std::string& policy, const std::vector<std::string>& more = {}) {
  std::vector<std::string> sets{"qos.default.classes.3.path=" + policy, "run.duration=200us"};
  sets.insert(sets.end(), more.begin(), more.end());
  Scenario s = Scenario::ready("dragonfly-adversarial", sets);
  s.run_to_the_end();
  return goodput_bps(s.report()) / kAll;
}

// Kim et al., ISCA 2008, section 4: shortest paths give 1/(a p), since a group has one link to the next; UGAL and
// Valiant go over other groups.
TEST(Dragonfly, AdversarialTrafficNeedsDetours) {
  EXPECT_NEAR(dragonfly("ecmp"), 1.0 / 8, 0.015);
  EXPECT_GE(dragonfly("ugal"), 0.4);
  EXPECT_GE(dragonfly("valiant"), 0.4);
}

const std::vector<std::string> kUniform = {
    "traffic=[{ name: uniform, pattern: random, from: h*, to: h*, flows: 8, rate: 12.5Gbps }]"};

// Each packet takes two links between groups instead of one.
TEST(Dragonfly, ValiantHalvesUniformTraffic) {
  const double shortest = dragonfly("ugal", kUniform);
  const double valiant = dragonfly("valiant", kUniform);
  EXPECT_GT(shortest, 0.7);
  EXPECT_NEAR(valiant, 0.5, 0.06);
}

}  // namespace
}  // namespace railyard::test
