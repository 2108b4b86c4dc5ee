#include "control/telemetry/looks.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/support/instant.h"

namespace railyard::telemetry {
namespace {

using namespace literals;

class LooksTest : public ::testing::Test {
 protected:
  Looks::Look record(std::vector<Instant>& into) {
    return [&into](Instant at) { into.push_back(at); };
  }
  // As a run does: from one due instant to the next.
  void run_until(Instant end) {
    while (looks.next() < end) looks.look(looks.next());
  }
  Looks looks;
  std::vector<Instant> seen, also_seen;
};

TEST_F(LooksTest, NobodyLooksAtFirst) { EXPECT_EQ(looks.next(), Instant::never()); }

TEST_F(LooksTest, EachHasItsOwnGrid) {
  looks.add(&seen, at(10_us), 10_us, record(seen));
  looks.add(&also_seen, at(5_us), 20_us, record(also_seen));
  run_until(at(46_us));
  EXPECT_EQ(seen, (std::vector{at(10_us), at(20_us), at(30_us), at(40_us)}));
  EXPECT_EQ(also_seen, (std::vector{at(5_us), at(25_us), at(45_us)}));
}

// A window of a wall clock may end long after a look was due.
TEST_F(LooksTest, WhatIsOverdueIsLookedAtOnce) {
  looks.add(&seen, at(10_us), 10_us, record(seen));
  looks.look(at(47_us));
  EXPECT_EQ(seen, (std::vector{at(47_us)}));
  EXPECT_EQ(looks.next(), at(50_us));
  looks.look(at(50_us));
  EXPECT_EQ(looks.next(), at(60_us));
}

TEST_F(LooksTest, WhereNothingHappensNobodyLooks) {
  looks.add(&seen, at(10_us), 10_us, record(seen));
  looks.skip_to(at(35_us));
  EXPECT_EQ(looks.next(), at(40_us));
  looks.skip_to(at(40_us));
  EXPECT_EQ(looks.next(), at(40_us));
}

TEST_F(LooksTest, ALookMayBeItsOwnersLast) {
  looks.add(&seen, at(10_us), 10_us, [&](Instant now) {
    seen.push_back(now);
    looks.remove(&seen);
  });
  looks.add(&also_seen, at(10_us), 10_us, record(also_seen));
  run_until(at(35_us));
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_EQ(also_seen.size(), 3u);
}

TEST_F(LooksTest, AnotherTakesThePlaceOfTheFirst) {
  looks.add(&seen, at(10_us), 10_us, record(seen));
  looks.add(&seen, at(7_us), 7_us, record(also_seen));
  run_until(at(15_us));
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(also_seen.size(), 2u);
}

}  // namespace
}  // namespace railyard::telemetry
