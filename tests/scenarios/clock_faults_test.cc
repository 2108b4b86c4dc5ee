// Hosts whose clocks are wrong: what is stamped is off by that much, and nothing else happens otherwise.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "tests/scenarios/fault_scenario.h"

namespace railyard::test {
namespace {

// As in faults_test.cc.
constexpr double kInterval = 67.6e-9;

TEST(ClockFaults, AClockThatIsWrong) {
  Scenario without = fault_scenario("skew", {"faults="});
  Scenario s = fault_scenario("skew");
  Scenario receiver = fault_scenario("skew", {"faults.0.on=h2"});
  for (Scenario* x : {&without, &s, &receiver}) x->run_to_the_end();
  const auto latency = [](Scenario& x) { return static_cast<double>(x.flow("t/h1->h2").received().latency.max()); };
  EXPECT_NEAR(latency(s), latency(without) + 10e6, 0.02 * latency(s));
  EXPECT_EQ(latency(receiver), 0) << "seems to come before it was sent";
  EXPECT_EQ(s.flow("t/h1->h2").received().packets, without.flow("t/h1->h2").received().packets);
}

// Clocks that are wrong from 300 us to 600 us, beside the same run with right ones.
class ClockFaultsForAWhile : public testing::Test {
 protected:
  void SetUp() override { without_.run_to_the_end(); }

  // Latencies as they are, and as they seem with that fault, which changes nothing else.
  const Histogram& right() { return without_.flow("t/h1->h2").received().latency; }
  Histogram seen_with(const std::string& fault) {
    Scenario s = fault_scenario("skew", {"faults=[{ name: f, at: 300us, for: 300us, " + fault + " }]"}, config());
    s.run_to_the_end();
    EXPECT_EQ(s.digest(), without_.digest());
    const Histogram& seen = s.flow("t/h1->h2").received().latency;
    EXPECT_EQ(seen.count(), right().count());
    EXPECT_EQ(seen.min(), right().min());
    return seen;
  }

 private:
  static EngineConfig config() {
    EngineConfig config;
    config.digest = true;
    return config;
  }
  Scenario without_ = fault_scenario("skew", {"faults="}, config());
};

// In the middle of a run: what is stamped meanwhile is off by exactly that much, and nothing goes another way or at
// another time.
TEST_F(ClockFaultsForAWhile, AClockThatIsWrongForAWhileShiftsTimeStampsAndNothingElse) {
  ASSERT_EQ(right().min(), right().max()) << "nobody is in the way";
  for (const char* fault : {"on: h1, skew: { behind: 10us }", "on: h2, skew: { ahead: 10us }"}) {
    SCOPED_TRACE(fault);
    const Histogram seen = seen_with(fault);
    EXPECT_EQ(seen.max(), right().max() + 10'000'000) << "picoseconds";
    const double shifted = (seen.mean() - right().mean()) * static_cast<double>(seen.count()) / 10e6;
    EXPECT_NEAR(shifted, 300e-6 / kInterval, 1.5);
    EXPECT_NEAR(shifted, std::round(shifted), 1e-3) << "each packet by all of it or not at all";
  }
}

// 1000 ppm for 300 us, from wrong by nothing to wrong by 300 ns; then right again.
TEST_F(ClockFaultsForAWhile, AClockThatDriftsIsMoreAndMoreWrong) {
  for (const char* fault : {"on: h1, skew: { slow: 0.1% }", "on: h2, skew: { fast: 0.1% }"}) {
    SCOPED_TRACE(fault);
    const Histogram seen = seen_with(fault);
    // The last packet that is off is of the last interval.
    EXPECT_NEAR(static_cast<double>(seen.max() - right().max()), 300e3, 0.001 * kInterval * 1e12 + 2) << "picoseconds";
    const double shifted = (seen.mean() - right().mean()) * static_cast<double>(seen.count());
    EXPECT_NEAR(shifted / (300e-6 / kInterval), 150e3, 1e3) << "half of it in the mean";
  }
}

}  // namespace
}  // namespace railyard::test
