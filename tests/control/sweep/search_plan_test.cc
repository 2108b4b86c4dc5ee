#include "control/sweep/search_plan.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::sweep {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const nlohmann::ordered_json kReport = {{"summary", {{"drops", 0}, {"accepted", 0.9995}, {"fct_p99", 250'000.0}}},
                                        {"engine", {{"windows", 7}}}};

TEST(SearchPlan, StepsAreAsFarApartAsTheResolutionSays) {
  const SearchPlan rates = plan_search("traffic.all.rate=1Gbps..100Gbps", "", {1, 100});
  EXPECT_EQ(rates.last, 99u);
  EXPECT_EQ(rates.set(0), "traffic.all.rate=1Gbps");
  EXPECT_EQ(rates.set(36), "traffic.all.rate=37Gbps");
  EXPECT_EQ(rates.set(99), "traffic.all.rate=100Gbps");
  EXPECT_EQ(rates.figure(36), 37e9);
  EXPECT_EQ(plan_search("a=0..10", "", {1, 100}).last, 10u) << "whole numbers";
  EXPECT_EQ(plan_search("a=1..256", "", {1, 100}).last, 128u);
  EXPECT_EQ(plan_search("a=1us..2us", "", {1, 4}).set(1), "a=1.5us");
  EXPECT_EQ(plan_search("a=10%..20%", "", {1, 2}).figure(1), 0.2);
}

TEST(SearchPlan, GoesDownWhereTheSecondEndIsTheLesser) {
  const SearchPlan plan = plan_search("switches.default.buffer=32MiB..1MiB", "drops=0", {1, 31});
  EXPECT_EQ(plan.set(0), "switches.default.buffer=32MiB");
  EXPECT_EQ(plan.set(plan.last), "switches.default.buffer=1MiB");
  EXPECT_EQ(plan.kind().better, report::Better::kLower);
  EXPECT_EQ(plan.kind().unit, report::Unit::kBytes);
  EXPECT_THAT(plan.text(), StartsWith("switches.default.buffer: the lowest of 32MiB..1MiB with drops=0"));
}

TEST(SearchPlan, AsksForWhatIsToHold) {
  const auto holds = [](const char* until) { return plan_search("a=1..2", until, {1, 100}).holds(kReport); };
  EXPECT_TRUE(holds("drops=0"));
  EXPECT_TRUE(holds("drops=0 and accepted >= 99.9% and fct_p99<=250us and /engine/windows>6"));
  EXPECT_FALSE(holds("drops=0 and accepted >= 0.9999"));
  EXPECT_FALSE(holds("fct_p99 < 250us"));
  EXPECT_FALSE(holds("drops != 0"));
  EXPECT_FALSE(holds("/engine/windows > 7"));
}

TEST(SearchPlan, WithoutAConditionNothingMayBeLostAndAllMustBeAccepted) {
  const SearchPlan plan = plan_search("a=1..2", "", {1, 100});
  nlohmann::ordered_json report = {
      {"summary", {{"drops", 0}, {"lost", 0}, {"retransmitted", 0}, {"accepted", 0.9995}}}};
  EXPECT_TRUE(plan.holds(report));
  report["summary"]["accepted"] = 0.99;
  EXPECT_FALSE(plan.holds(report)) << "PFC stalls the sender: nothing is lost, and too little accepted";
}

TEST(SearchPlan, SaysWhatIsWrong) {
  const auto error = [](const char* search, const char* until, spec::Ratio resolution = {1, 100}) -> std::string {
    try {
      static_cast<void>(plan_search(search, until, resolution).holds(kReport));
      return "nothing";
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
  };
  EXPECT_THAT(error("1..2", ""), HasSubstr("--search: '1..2': no key; expected PATH=FROM..TO, e.g."));
  EXPECT_THAT(error("a=1", ""), HasSubstr("no range"));
  EXPECT_THAT(error("a=1..x", ""), HasSubstr("'x' is not a number, rate, size, duration or share"));
  EXPECT_THAT(error("a=1..2Gbps", ""), HasSubstr("the ends have different units"));
  EXPECT_THAT(error("a=1000Mbps..1Gbps", ""), HasSubstr("the ends are equal"));
  EXPECT_THAT(error("a=1..2", "drops"), HasSubstr("--until: 'drops': no comparison; expected terms such as drops=0"));
  EXPECT_THAT(error("a=1..2", "drops=0 and"), HasSubstr("--until: 'drops=0 and'"));
  EXPECT_THAT(error("a=1..2", "drops="), HasSubstr("'drops=': no value"));
  EXPECT_THAT(error("a=1..2", "=0"), HasSubstr("'=0': no figure"));
  EXPECT_THAT(error("a=1..2", "drips=0"), HasSubstr("--until: no run has 'drips'; did you mean 'drops'?"));
  EXPECT_THAT(error("a=1..2", "drops=0", {0, 1}), HasSubstr("--resolution: expected a fraction"));
}

}  // namespace
}  // namespace railyard::sweep
