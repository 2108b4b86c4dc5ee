// Against a public simulator: what uet-htsim (August 2025) measured for the set-up of topologies/scenarios/
// fidelity-uet.yaml, least and most of ten seeds, five per cent wider: permutation of 128 hosts over 8 leaves and 16
// spines, 2 MB each, oblivious spraying over 64 paths.
//
//   FCT in us       mean            p50             p99             max             trims       CE marks
//                   183.7 .. 187.1  185.0 .. 188.1  194.3 .. 201.9  196.7 .. 217.3  160 .. 401  7811 .. 9718
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

using namespace literals;

TEST(UetFidelity, TheNetworkIsFoundInTheLab) {
  Scenario s = Scenario::ready("fidelity-uet");
  const auto& nics = s.lab().uet_nics();
  ASSERT_EQ(nics.size(), 128u);
  const auto& c = std::get<uet::NsccConfig>(nics[0].endpoint->engine().config().congestion);
  // The simulator's figures; our frames are longer.
  EXPECT_NEAR(static_cast<double>(c.base_rtt.ps), 9.3485e6, 0.015 * 9.3485e6);
  EXPECT_NEAR(static_cast<double>(c.target.ps), 7.011e6, 0.015 * 7.011e6);
  EXPECT_NEAR(c.max_wnd_bdps * static_cast<double>((c.rate * c.base_rtt).n), 1.5 * 116856, 0.015 * 1.5 * 116856);
}

TEST(UetFidelity, OneFlowTakesItsTimeOnTheWireAndOneRoundTrip) {
  Scenario s = Scenario::ready("fidelity-uet", {"traffic.permutation.pattern=pairs", "traffic.permutation.from=h1",
                                                "traffic.permutation.to=h128"});
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_TRUE(r.flows[0].fct_ns.has_value());
  // 489 packets and 126 octets around each; 8 us there and back; the last full one is stored three times (the short one
  // behind it, which has another way, is there before it), and so is the ACK of 94 octets.
  const double wire = (2e6 + 489 * 126) * 8 / 100;
  const double short_one = (2e6 - 488 * 4096 + 126) * 8 / 100;
  const double expected = wire - short_one + 8000 + (3 * (4096 + 106 + 8) + 4 * (94 + 8)) * 0.08;
  EXPECT_NEAR(static_cast<double>(*r.flows[0].fct_ns), expected, 0.002 * wire);
  // The simulator's way of counting: 490 packets of 64 more; 4 x 1 us there and back, 3 stores of 4150, 4 of 64.
  const double theirs = (2e6 + 490 * 64) * 8 / 100 + 8000 + 3 * 4150 * 0.08 + 4 * 64 * 0.08;
  EXPECT_NEAR(static_cast<double>(*r.flows[0].fct_ns), theirs, 0.05 * theirs);
  EXPECT_EQ(r.flows[0].trimmed + r.flows[0].uet->retransmitted_packets, 0u);
}

// ---- Over three tiers: topologies/scenarios/fidelity-uet-fat-tree.yaml
// -----------------------------------------------
//
//   FCT in us          mean            p50             p99             max             trims       CE marks
//   one flow           176.2
//   oblivious          194.6 .. 196.6  193.7 .. 196.3  206.4 .. 225.2  206.4 .. 232.2   12 .. 76   7534 .. 9808
//   mixed              190.4 .. 191.4  190.6 .. 191.5  196.2 .. 199.3  196.3 .. 199.6    0 .. 1    4245 .. 5135
//   incast of 8        1201 .. 1268    1183 .. 1279    1319 .. 1366    1319 .. 1366    419 .. 429  3409 .. 3664

struct Band {
  double least;
  double most;
};
void expect_in(const char* what, double measured_ns, Band us) {
  EXPECT_GT(measured_ns, us.least * 1000 * 0.95) << what;
  EXPECT_LT(measured_ns, us.most * 1000 * 1.05) << what;
}
void expect_fct(const report::TrafficReport& t, Band mean, Band p50, Band p99, Band max) {
  expect_in("mean", t.fct_ns.mean, mean);
  expect_in("p50", static_cast<double>(t.fct_ns.p50), p50);
  expect_in("p99", static_cast<double>(t.fct_ns.p99), p99);
  expect_in("max", static_cast<double>(t.fct_ns.max), max);
}

struct Sums {
  std::uint64_t trims = 0, marks = 0, again = 0, timeouts = 0;
};
Sums sums(const report::Report& r) {
  Sums s;
  for (const report::UetNicReport& n : r.uet_nics) {
    s.trims += n.trimmed();
    s.marks += n.ecn_marked_packets;
    s.again += n.retransmitted_packets;
    s.timeouts += n.retransmission_timeouts;
  }
  return s;
}

void expect_counts(const Sums& s, Band trims, Band marks) {
  EXPECT_GE(static_cast<double>(s.trims), trims.least * 0.95);
  EXPECT_LE(static_cast<double>(s.trims), trims.most * 1.05);
  EXPECT_GE(static_cast<double>(s.marks), marks.least * 0.95);
  EXPECT_LE(static_cast<double>(s.marks), marks.most * 1.05);
}

std::string traffic(const std::string& what) {
  return "traffic=[{ name: t, transport: uet, path-mtu: 4086, message: 2MB, bytes: 2MB, outstanding: 1, " + what +
         " }]";
}

TEST(UetFidelityThreeTiers, OneFlowTakesWhatItTookThere) {
  Scenario s = Scenario::ready("fidelity-uet-fat-tree", {traffic("from: h128, to: h1")});
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_TRUE(r.flows[0].fct_ns.has_value());
  EXPECT_NEAR(static_cast<double>(*r.flows[0].fct_ns), 176'200, 0.01 * 176'200);
  EXPECT_EQ(r.flows[0].packets, 490u);
  EXPECT_EQ(sums(r).again + sums(r).trims + sums(r).marks, 0u);
}

TEST(UetFidelityThreeTiers, APermutationOverAllPathsInTurn) {
  Scenario s = Scenario::ready("fidelity-uet-fat-tree");
  const auto& nics = s.lab().uet_nics();
  ASSERT_EQ(nics.size(), 128u);
  const auto& c = std::get<uet::NsccConfig>(nics[0].endpoint->engine().config().congestion);
  EXPECT_NEAR(static_cast<double>(c.base_rtt.ps), 14.0227e6, 0.01 * 14.0227e6);
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_EQ(r.traffic.at(0).complete, 128u);
  expect_fct(r.traffic[0], {194.6, 196.6}, {193.7, 196.3}, {206.4, 225.2}, {206.4, 232.2});
  expect_counts(sums(r), {12, 76}, {7534, 9808});
  EXPECT_EQ(sums(r).again, sums(r).trims);
  EXPECT_EQ(sums(r).timeouts, 0u);
}

TEST(UetFidelityThreeTiers, APermutationOverPathsThatWereGood) {
  Scenario s = Scenario::ready("fidelity-uet-fat-tree", {"hosts.default.uet.path-policy=mixed"});
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_EQ(r.traffic.at(0).complete, 128u);
  expect_fct(r.traffic[0], {190.4, 191.4}, {190.6, 191.5}, {196.2, 199.3}, {196.3, 199.6});
  expect_counts(sums(r), {0, 1}, {4245, 5135});
  EXPECT_EQ(sums(r).again, sums(r).trims);
}

// Senders 127, 112, 97, .. of 0..127, to 0.
TEST(UetFidelityThreeTiers, AnIncastOfEight) {
  Scenario s = Scenario::ready("fidelity-uet-fat-tree",
                               {"hosts.default.uet.path-policy=mixed",
                                traffic("pattern: incast, from: [h128, h113, h98, h83, h68, h53, h38, h23], to: h1")});
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_EQ(r.traffic.at(0).complete, 8u);
  expect_fct(r.traffic[0], {1201, 1268}, {1183, 1279}, {1319, 1366}, {1319, 1366});
  expect_counts(sums(r), {419, 429}, {3409, 3664});
  EXPECT_EQ(sums(r).again, sums(r).trims);
}

// 171.1 us a step, 5137.3 us in all. There a step begins at the ACK of the one before it, here at its data.
TEST(UetFidelityThreeTiers, ARingOfSixteen) {
  Scenario s = Scenario::ready("fidelity-uet-ring");
  s.run_to_the_end();
  const report::Report r = s.report();
  ASSERT_EQ(r.collectives.size(), 1u);
  EXPECT_TRUE(r.collectives[0].verified);
  ASSERT_TRUE(r.collectives[0].max_ns.has_value());
  expect_in("makespan", static_cast<double>(*r.collectives[0].max_ns), {5137.3, 5137.3});
  EXPECT_EQ(sums(r).again + sums(r).trims, 0u);
}

// ---- Over two
// --------------------------------------------------------------------------------------------------------

TEST(UetFidelity, APermutationLandsInTheBand) {
  Scenario s = Scenario::ready("fidelity-uet");
  s.run_to_the_end();
  const report::Report r = s.report();
  const report::TrafficReport& t = r.traffic.at(0);
  ASSERT_EQ(t.complete, 128u);
  EXPECT_GT(t.fct_ns.mean, 183'700 * 0.95);
  EXPECT_LT(t.fct_ns.mean, 187'100 * 1.05);
  EXPECT_GT(t.fct_ns.p50, 185'000 * 0.95);
  EXPECT_LT(t.fct_ns.p50, 188'100 * 1.05);
  EXPECT_GT(t.fct_ns.p99, 194'300 * 0.95);
  EXPECT_LT(t.fct_ns.p99, 201'900 * 1.05);
  EXPECT_GT(t.fct_ns.max, 196'700 * 0.95);
  EXPECT_LT(t.fct_ns.max, 217'300 * 1.05);
  expect_counts(sums(r), {160, 401}, {7811, 9718});
  EXPECT_EQ(sums(r).again, sums(r).trims);
  EXPECT_EQ(sums(r).timeouts, 0u);
  EXPECT_EQ(s.dropped(), 0u);
}

}  // namespace
}  // namespace railyard::test
