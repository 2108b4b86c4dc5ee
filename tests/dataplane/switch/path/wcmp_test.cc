#include "dataplane/switch/path/wcmp.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

// How many of `n` equally spaced hashes each member has; they lie between the ends of entries, not on them.
std::vector<int> shares(const Wcmp& wcmp, std::size_t members, std::uint32_t n) {
  std::vector<int> share(members);
  for (std::uint32_t i = 0; i < n; ++i)
    ++share[wcmp.choose(static_cast<std::uint32_t>(((2 * std::uint64_t{i} + 1) << 31) / n))];
  return share;
}

TEST(Wcmp, SmallWeightsAreExact) {
  const std::vector<std::uint32_t> weights{400, 100, 100};
  const Wcmp wcmp(weights);
  EXPECT_EQ(wcmp.entries(), 6u) << "divided by what they have in common";
  EXPECT_EQ(shares(wcmp, 3, 6000), (std::vector<int>{4000, 1000, 1000}));
}

TEST(Wcmp, WhatDoesNotFitIsRoundedToTheTable) {
  const std::vector<std::uint32_t> weights{1'000'003, 2'000'003, 500'009};
  const Wcmp wcmp(weights);
  EXPECT_EQ(wcmp.entries(), Wcmp::kMostEntries);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::vector<int> share = shares(wcmp, 3, Wcmp::kMostEntries);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(share[i], weights[i] / sum * Wcmp::kMostEntries, 1.0);
}

TEST(Wcmp, EveryMemberHasAnEntry) {
  const std::vector<std::uint32_t> weights{1, 1'000'000, 1};
  const std::vector<int> share = shares(Wcmp(weights), 3, 1 << 16);
  EXPECT_GT(share[0], 0);
  EXPECT_GT(share[2], 0);
}

TEST(Wcmp, AllHashesAreCovered) {
  const std::vector<std::uint32_t> weights{3, 5};
  const Wcmp wcmp(weights);
  EXPECT_EQ(wcmp.choose(0), 0);
  EXPECT_EQ(wcmp.choose(~0u), 1);
}

}  // namespace
}  // namespace railyard
