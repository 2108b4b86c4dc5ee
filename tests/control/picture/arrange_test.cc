#include "control/picture/arrange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace railyard::picture {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

TEST(ClosestApart, LeavesAloneWhatIsFarApart) {
  EXPECT_THAT(closest_apart({0, 10, 30}, {5, 5}), ElementsAre(0, 10, 30));
}

TEST(ClosestApart, PushesApartAroundTheMiddleOfWhatIsWanted) {
  EXPECT_THAT(closest_apart({7, 7, 7}, {10, 10}), ElementsAre(DoubleEq(-3), DoubleEq(7), DoubleEq(17)));
  EXPECT_THAT(closest_apart({0, 1, 100}, {3, 3}), ElementsAre(DoubleEq(-1), DoubleEq(2), DoubleEq(100)));
  EXPECT_THAT(closest_apart({}, {}), ElementsAre());
}

// Two leaves, 0 and 1, above four hosts of which every second is at leaf 1; 5 and 6 not in this order above the leaves.
Rows two_leaves() {
  Rows rows;
  rows.rows = {{7, 6}, {0, 1}, {2, 3, 4, 5}};
  rows.up = {{6}, {7}, {1}, {0}, {1}, {0}, {}, {}};
  rows.down = {{3, 5}, {2, 4}, {}, {}, {}, {}, {0}, {1}};
  return rows;
}

TEST(Order, PutsHostsBelowTheirLeaves) {
  Rows rows = two_leaves();
  order(rows, 1);
  EXPECT_THAT(rows.rows[1], ElementsAre(0, 1));
  EXPECT_THAT(rows.rows[2], ElementsAre(3, 5, 2, 4));
  EXPECT_THAT(rows.rows[0], ElementsAre(6, 7));
}

TEST(Places, LeavesStandAboveTheMiddleOfTheirHosts) {
  Rows rows = two_leaves();
  order(rows, 1);
  const std::vector<double> at = places(rows, std::vector<double>(8, 10), std::vector<double>(8, 2));
  // Hosts of 10 with 2 between: centres at -18, -6, 6, 18.
  EXPECT_THAT(at, ElementsAre(DoubleEq(-12), DoubleEq(12), DoubleEq(6), DoubleEq(-18), DoubleEq(18), DoubleEq(-6),
                              DoubleEq(-12), DoubleEq(12)));
}

}  // namespace
}  // namespace railyard::picture
