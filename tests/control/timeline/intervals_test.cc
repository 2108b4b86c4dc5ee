// Sets of stretches of time.
#include "control/timeline/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::timeline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Interval between(std::int64_t from, std::int64_t to) { return {Instant{from}, Instant{to}}; }

TEST(Intervals, ThatTouchOrOverlapAreOne) {
  EXPECT_THAT(joined({between(30, 40), between(0, 10), between(5, 20), between(20, 25)}), ElementsAre(between(0, 25), between(30, 40)));
  EXPECT_THAT(joined({between(5, 5)}), IsEmpty());
}

TEST(Intervals, LoseWhatIsSubtracted) {
  const auto all = joined({between(0, 100), between(200, 300)});
  EXPECT_THAT(subtracted(all, {between(0, 10), between(50, 60), between(90, 210), between(299, 400)}),
              ElementsAre(between(10, 50), between(60, 90), between(210, 299)));
  EXPECT_THAT(subtracted(all, {}), ElementsAre(between(0, 100), between(200, 300)));
  EXPECT_THAT(subtracted(all, {between(0, 300)}), IsEmpty());
}

TEST(Intervals, AreAsLongAsTheirParts) { EXPECT_EQ(length({between(0, 10), between(20, 25)}), Duration{15}); }

}  // namespace
}  // namespace railyard::timeline
