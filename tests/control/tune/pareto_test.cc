#include "control/tune/pareto.h"

#include <gtest/gtest.h>

namespace railyard::tune {
namespace {

using enum report::Better;

TEST(Pareto, KeepsWhatNoOtherBeatsInBoth) {
  // Delay (lower) against goodput (higher).
  const std::vector<std::optional<Pair>> points{Pair{10, 90}, Pair{20, 95}, Pair{30, 94}, std::nullopt,
                                                Pair{5, 50},  Pair{20, 95}, Pair{40, 99}};
  EXPECT_EQ(pareto_front(points, kLower, kHigher), (std::vector<std::size_t>{4, 0, 1, 6}));
}

TEST(Pareto, OfBothHigherTheFirstAscends) {
  EXPECT_EQ(pareto_front({Pair{1, 9}, Pair{9, 1}, Pair{5, 5}, Pair{4, 4}}, kHigher, kHigher),
            (std::vector<std::size_t>{0, 2, 1}));
}

TEST(Pareto, OnePointIsAFrontAndNoneIsNone) {
  EXPECT_EQ(pareto_front({Pair{1, 1}}, kLower, kLower), std::vector<std::size_t>{0});
  EXPECT_TRUE(pareto_front({std::nullopt}, kLower, kLower).empty());
}

}  // namespace
}  // namespace railyard::tune
