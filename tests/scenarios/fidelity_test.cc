// Against a public simulator: what the HPCC simulator (ns-3.17) measured for the set-up of
// topologies/scenarios/fidelity-dcqcn.yaml, least and most of ten seeds.
//
//                                     FCT mean         max              CE marks        deepest queue, kB
//   2:1, 100 MB each                  16934 .. 17353   17309 .. 17757   374 .. 544      554 .. 788
//   2:1, PFC only                     16604            16604            0               6719
//   16:1, 10 MB each                  13785 .. 14333   14985 .. 16299   15898 .. 17633  5060 .. 6248
//   16:1, PFC only                    13268            13284            0               22370
//
// FCTs in us; they are compared as multiples of those with PFC only, which takes framing (theirs is another) out of
// them. Ours must be in the band, five per cent wider.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

const std::vector<std::string> kPfcOnly{"hosts.default.roce.congestion=none", "qos.default.classes.3.ecn=off"};

struct Measured {
  double mean_us = 0, max_us = 0, marks = 0, deepest_kb = 0;
  std::uint64_t xoffs = 0;
};

Measured measure(std::vector<std::string> set, int fan_in, const std::string& bytes, int seed = 1) {
  set.insert(set.end(), {"traffic.incast.fan-in=" + std::to_string(fan_in), "traffic.incast.bytes=" + bytes,
                         "traffic.incast.message=" + bytes, "run.seed=" + std::to_string(seed)});
  Scenario s = Scenario::ready("fidelity-dcqcn", set);
  s.run_to_the_end();
  EXPECT_EQ(s.dropped(), 0u);
  const report::Report r = s.report();
  Measured m;
  EXPECT_EQ(r.traffic.at(0).complete, static_cast<std::uint64_t>(fan_in));
  m.mean_us = r.traffic.at(0).fct_ns.mean / 1000;
  m.max_us = r.traffic.at(0).fct_ns.max / 1000;
  const ClassCounters bottleneck = s.at("leaf1:1", 3);
  m.marks = static_cast<double>(bottleneck.ecn_marked);
  m.deepest_kb = static_cast<double>(bottleneck.max_depth_octets) / 1000;
  for (const report::PortReport& p : r.ports) m.xoffs += p.counters.classes[3].xoff_sent;
  return m;
}

// The median of three seeds, figure by figure.
Measured median(int fan_in, const std::string& bytes) {
  std::vector<Measured> all;
  for (int seed = 1; seed <= 3; ++seed) all.push_back(measure({}, fan_in, bytes, seed));
  Measured m;
  for (double Measured::*figure : {&Measured::mean_us, &Measured::max_us, &Measured::marks, &Measured::deepest_kb}) {
    std::vector<double> values;
    for (const Measured& one : all) values.push_back(one.*figure);
    std::ranges::sort(values);
    m.*figure = values[1];
  }
  for (const Measured& one : all) m.xoffs += one.xoffs;
  return m;
}

void expect_in_band(double value, double least, double most, const char* what) {
  EXPECT_GE(value, least * 0.95) << what;
  EXPECT_LE(value, most * 1.05) << what;
}

// Octets on the wire of a WRITE: 1024 of payload in each packet, 82 around it, and a RETH of 16.
double wire_us(double octets) { return (octets + std::ceil(octets / 1024) * 82 + 16) * 8 / 100e9 * 1e6; }

// Two links there and two back, of 1 us; what else there is takes nanoseconds.
constexpr double kWay = 4;

TEST(Fidelity, OneFlowAloneTakesWhatItsOctetsTake) {
  const Measured m = measure({}, 1, "10MB");
  EXPECT_NEAR(m.mean_us, wire_us(10e6) + kWay, 0.5);
  EXPECT_EQ(m.marks, 0);
  EXPECT_EQ(m.xoffs, 0u);
}

TEST(Fidelity, WithPfcOnlyTheLinkIsNeverIdle) {
  const Measured two = measure(kPfcOnly, 2, "100MB");
  EXPECT_NEAR(two.max_us, 2 * wire_us(100e6) + kWay, 1);
  EXPECT_NEAR(two.mean_us, two.max_us, 1) << "both end together";
  EXPECT_GT(two.xoffs, 0u);
  const Measured sixteen = measure(kPfcOnly, 16, "10MB");
  EXPECT_NEAR(sixteen.max_us, 16 * wire_us(10e6) + kWay, 1);
}

TEST(Fidelity, DcqcnOfTwoIsInTheSimulatorsBand) {
  const double pfc_only = 2 * wire_us(100e6) + kWay;
  const Measured m = median(2, "100MB");
  expect_in_band(m.mean_us / pfc_only, 16934.0 / 16604, 17353.0 / 16604, "FCT mean");
  expect_in_band(m.max_us / pfc_only, 17309.0 / 16604, 17757.0 / 16604, "FCT max");
  expect_in_band(m.marks, 374, 544, "CE marks");
  expect_in_band(m.deepest_kb, 554, 788, "deepest queue");
  EXPECT_EQ(m.xoffs, 0u);
}

TEST(Fidelity, DcqcnOfSixteenIsInTheSimulatorsBand) {
  const double pfc_only = 16 * wire_us(10e6) + kWay;
  const Measured m = median(16, "10MB");
  expect_in_band(m.mean_us / pfc_only, 13785.0 / 13268, 14333.0 / 13268, "FCT mean");
  expect_in_band(m.max_us / pfc_only, 14985.0 / 13284, 16299.0 / 13284, "FCT max");
  expect_in_band(m.marks, 15898, 17633, "CE marks");
  expect_in_band(m.deepest_kb, 5060, 6248, "deepest queue");
  EXPECT_EQ(m.xoffs, 0u);
}

// Everybody begins at line rate, is cut and finds a share. The more there are, the longer that takes: shares are those
// from `from` on.
TEST(Fidelity, DcqcnSharesTheLinkFairly) {
  struct Window {
    int flows;
    Duration from, to;
  };
  for (const Window& w : {Window{2, 10_ms, 40_ms}, Window{4, 10_ms, 40_ms}, Window{8, 40_ms, 140_ms},
                          Window{16, 40_ms, 140_ms}}) {
    SCOPED_TRACE(w.flows);
    Scenario s = Scenario::ready(
        "fidelity-dcqcn", {"traffic.incast.fan-in=" + std::to_string(w.flows), "traffic.incast.bytes=unlimited",
                           "traffic.incast.message=1MB", "traffic.incast.outstanding=2", "run.duration=1s"});
    const auto delivered = [&] {
      std::vector<double> octets;
      for (const report::FlowReport& f : s.report().flows) octets.push_back(static_cast<double>(f.delivered_bytes));
      return octets;
    };
    s.run_until(w.from);
    const std::vector<double> early = delivered();
    s.run_until(w.to);
    std::vector<double> shares = delivered();
    ASSERT_EQ(shares.size(), static_cast<std::size_t>(w.flows));
    double all = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) all += shares[i] -= early[i];
    const double fair = all / w.flows;
    EXPECT_GT(*std::ranges::min_element(shares), 0.9 * fair);
    EXPECT_LT(*std::ranges::max_element(shares), 1.1 * fair);
    // Of a link's payload: 1024 octets of 1106.
    const double seconds = static_cast<double>((w.to - w.from).ps) / 1e12;
    EXPECT_GT(all * 8 / seconds, 0.98 * 100e9 * 1024 / 1106) << "and the link is used";
    EXPECT_EQ(s.dropped(), 0u);
    for (const report::PortReport& p : s.report().ports) EXPECT_EQ(p.counters.classes[3].xoff_sent, 0u);
  }
}

}  // namespace
}  // namespace railyard::test
