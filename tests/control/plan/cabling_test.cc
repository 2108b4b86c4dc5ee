// Kinds of cable by length and rate.
#include "control/plan/cabling.h"

#include <gtest/gtest.h>

#include "tests/control/plan/planned.h"

namespace railyard::plan {
namespace {

constexpr BitRate k400{400'000'000'000}, k800{800'000'000'000};

TEST(Cabling, TheCheapestKindThatReaches) {
  using enum spec::CableMedium;
  EXPECT_EQ(medium_for({3'000}, k400), kDac);
  EXPECT_EQ(medium_for({3'000}, k800), kAec) << "passive copper ends at 2 m";
  EXPECT_EQ(medium_for({7'000}, k400), kAec);
  EXPECT_EQ(medium_for({30'000}, k400), kAoc);
  EXPECT_EQ(medium_for({31'000}, k400), kSr);
  EXPECT_EQ(medium_for({100'000}, k400), kSr);
  EXPECT_EQ(medium_for({101'000}, k400), kDr);
  EXPECT_EQ(medium_for({501'000}, k400), kFr);
  EXPECT_EQ(medium_for({2'001'000}, k400), kLr);
  EXPECT_EQ(medium_for({10'001'000}, k400), std::nullopt);
}

TEST(Cabling, OneCableForEachLink) {
  const Plan p = planned({{"gpus", "128"}, {"fabric-cable", "40m"}});
  ASSERT_EQ(p.cables.size(), 2u);
  EXPECT_EQ(p.cables[0].now, 128);
  EXPECT_EQ(p.cables[1].now, 4 * 4 * 8);
  EXPECT_TRUE(p.cables[1].is_optical_pair());
}

}  // namespace
}  // namespace railyard::plan
