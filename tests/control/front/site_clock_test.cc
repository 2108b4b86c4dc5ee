// How another machine's clock stands to this one's.
#include <limits>

#include <gtest/gtest.h>

#include "control/front/site_clock.h"

namespace railyard::front {
namespace {

TEST(SiteClock, TheShortestRoundTripCounts) {
  SiteClock clock;
  EXPECT_EQ(clock.offset(), 0);
  clock.add(100, 205, 104);
  EXPECT_EQ(clock.offset(), 103);
  EXPECT_EQ(clock.error(), 2);
  clock.add(110, 210.5, 111);
  EXPECT_EQ(clock.offset(), 100);
  EXPECT_EQ(clock.error(), 0.5);
  clock.add(120, 230, 125);
  EXPECT_EQ(clock.offset(), 100);
}

TEST(SiteClock, ForgetsWhatIsLongAgo) {
  SiteClock clock;
  clock.add(100, 200, 100);
  for (std::size_t i = 0; i < SiteClock::kKept; ++i) clock.add(200, 251, 202);
  EXPECT_EQ(clock.offset(), 50);
}

TEST(SiteClock, TimesThatMakeNoSenseAreLeftOut) {
  SiteClock clock;
  clock.add(100, 200, 99);
  clock.add(100, std::numeric_limits<double>::infinity(), 101);
  EXPECT_EQ(clock.offset(), 0);
}

}  // namespace
}  // namespace railyard::front
