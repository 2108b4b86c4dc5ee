// NCCL's protocols: what they cost in a run, and that estimates cost the same.
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "control/estimate/estimate.h"
#include "tests/scenarios/scenario.h"

namespace railyard::test {
namespace {

// By name: us.
std::map<std::string, double> times_of(Scenario& s) {
  std::map<std::string, double> times;
  for (const report::CollectiveReport& c : s.run_collectives()) times[c.name] = static_cast<double>(*c.median_ns) / 1000;
  return times;
}

TEST(NcclProtocols, OfSmallAllReducesLlIsTheQuickest) {
  Scenario s = Scenario::ready("nccl-protocols");
  const std::map<std::string, double> us = times_of(s);
  EXPECT_LT(us.at("fabric"), us.at("ll"));
  EXPECT_LT(us.at("ll"), us.at("ll128"));
  EXPECT_LT(us.at("ll128"), us.at("simple"));
  EXPECT_LE(us.at("chosen"), us.at("ll"));
}

// 1.4 (8.4 + 28 x 3.4 + 2 x 14) us, and what the fabric takes in 30 steps; 500 ns of 26.25 steps within hosts are in both.
TEST(NcclProtocols, ASimpleRingTakesWhatTheModelSaysAndTheFabric) {
  Scenario s = Scenario::ready("nccl-protocols");
  const std::map<std::string, double> us = times_of(s);
  EXPECT_NEAR(us.at("simple"), 1.4 * (8.4 + 28 * 3.4 + 2 * 14) - 26.25 * 0.5 + us.at("fabric"), 0.02 * us.at("simple"));
}

TEST(NcclProtocols, CostTheSameInEstimates) {
  Scenario s = Scenario::ready("nccl-protocols");
  const auto estimated = estimate::estimate(s.lab().spec(), {.least_chunk = 0});
  ASSERT_TRUE(estimated) << estimated.error();
  const std::map<std::string, double> us = times_of(s);
  for (const estimate::CollectiveEstimate& c : estimated->collectives)
    EXPECT_NEAR(static_cast<double>(c.time.ps) / 1e6, us.at(c.name), 0.05 * us.at(c.name)) << c.name;
}

// Twice, and 128/120 of the data.
TEST(NcclProtocols, SendTheirFlags) {
  const auto octets = [](const char* protocol) {
    Scenario s = Scenario::ready("nccl-protocols", {fmt::format("collectives.chosen.protocol={}", protocol),
                                                    "collectives.chosen.algorithm=ring", "collectives.chosen.size=60MiB"});
    const auto e = estimate::estimate(s.lab().spec(), {});
    double all = 0;
    for (const estimate::LinkEstimate& l : e->links) all += l.bytes;
    return all;
  };
  // The other collectives send 64 KiB each: less than 1 % of it.
  EXPECT_NEAR(octets("ll") / octets("simple"), 2, 0.05);
  EXPECT_NEAR(octets("ll128") / octets("simple"), 128.0 / 120, 0.01);
}

TEST(NcclProtocols, KeysBesideThemWin) {
  Scenario s = Scenario::ready("nccl-protocols", {"collectives.simple.step-cost=0us", "collectives.simple.launch-cost=0us"});
  const std::map<std::string, double> us = times_of(s);
  EXPECT_NEAR(us.at("simple"), us.at("fabric"), 0.05 * us.at("fabric"));
}

TEST(NcclProtocols, HaveTheRightDataWithRealPayload) {
  for (const char* operation : {"all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"}) {
    Scenario s = Scenario::ready("nccl-protocols",
                                 {"run.payload=real", fmt::format("collectives.chosen.collective={}", operation),
                                  fmt::format("collectives.ll128.collective={}", operation),
                                  fmt::format("collectives.ll.collective={}", operation)});
    s.run_collectives();
  }
}

// Each collective of a job has a protocol of its own: its steps take longer, with the same data.
TEST(NcclProtocols, OfAJobAreChosenForEachCollective) {
  const auto step = [](const char* protocol) {
    Scenario s = Scenario::ready("job-3d", {fmt::format("jobs.step.protocol={}", protocol), "jobs.step.steps=1"});
    return static_cast<double>(*s.run_collectives().at(0).median_ns);
  };
  const double none = step("none"), chosen = step("auto"), simple = step("simple");
  EXPECT_LT(none, chosen);
  EXPECT_LE(chosen, simple);
}

}  // namespace
}  // namespace railyard::test
