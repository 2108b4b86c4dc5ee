// Fair shares by hand.
#include "control/estimate/max_min.h"

#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace railyard::estimate {
namespace {

std::vector<double> rates(std::vector<double> capacities, const std::vector<std::vector<LinkUse>>& flows) {
  MaxMin m(std::move(capacities));
  std::vector<double> out;
  m.rates(std::vector<std::span<const LinkUse>>(flows.begin(), flows.end()), out);
  return out;
}

TEST(MaxMin, FlowsOfALinkShareIt) { EXPECT_EQ(rates({100}, {{{0, 1}}, {{0, 1}}}), (std::vector<double>{50, 50})); }

// Bertsekas and Gallager, "Data Networks", figure 6.14: who cannot use its share leaves it to the others.
TEST(MaxMin, WhatAFlowCannotUseIsTheOthers) {
  const auto r = rates({100, 30}, {{{0, 1}}, {{0, 1}, {1, 1}}, {{1, 1}}});
  EXPECT_DOUBLE_EQ(r[0], 85);
  EXPECT_DOUBLE_EQ(r[1], 15);
  EXPECT_DOUBLE_EQ(r[2], 15);
}

TEST(MaxMin, AFlowOverTwoPathsHasHalfOfItsOctetsOnEach) {
  EXPECT_DOUBLE_EQ(rates({100, 20, 20}, {{{0, 1}, {1, 0.5}, {2, 0.5}}})[0], 40);
}

TEST(MaxMin, IsTheSameWhenItIsAskedAgain) {
  MaxMin m({100});
  const std::vector<LinkUse> use{{0, 1}};
  const std::vector<std::span<const LinkUse>> one{use}, two{use, use};
  std::vector<double> out;
  m.rates(two, out);
  m.rates(one, out);
  EXPECT_EQ(out, (std::vector<double>{100}));
}

}  // namespace
}  // namespace railyard::estimate
