// Against a public simulator: what uet-htsim (August 2025) measured for the set-up of topologies/scenarios/
// fidelity-uet.yaml, least and most of ten seeds, five per cent wider: permutation of 128 hosts over 8 leaves and 16
// spines, 2 MB each, oblivious spraying over 64 paths.
//
//   FCT in us       mean            p50             p99             max             trims
//                   183.7 .. 187.1  185.0 .. 188.1  194.3 .. 201.9  196.7 .. 217.3  160 .. 401
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
  std::uint64_t trimmed = 0, again = 0;
  for (const report::UetNicReport& n : r.uet_nics) {
    trimmed += n.trimmed();
    again += n.retransmitted_packets;
    EXPECT_EQ(n.retransmission_timeouts, 0u) << n.nic;
  }
  EXPECT_EQ(again, trimmed);
  EXPECT_EQ(s.dropped(), 0u);
}

}  // namespace
}  // namespace railyard::test
