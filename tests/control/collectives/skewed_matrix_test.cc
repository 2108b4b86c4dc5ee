// All-to-alls of unequal parts, by Zipf's law.
#include "control/collectives/skewed_matrix.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace railyard::collectives {
namespace {

TEST(SkewedMatrix, EachSendsItsSizeAndMostOfItToThePopularOnes) {
  const std::uint32_t n = 8;
  const auto matrix = skewed_matrix(n, 4 * 100'000, 4, 1.0, 7);
  std::vector<std::uint64_t> column(matrix.begin(), matrix.begin() + n);
  for (std::uint32_t r = 0; r < n; ++r) {
    const auto row = matrix.begin() + r * n;
    EXPECT_EQ(std::accumulate(row, row + n, std::uint64_t{0}), 400'000u);
    EXPECT_TRUE(std::equal(row, row + n, column.begin())) << "all senders have the same favourites";
  }
  // Zipf: 1, 1/2, ..., 1/8 of the sum of those, which is 2.717857.
  std::ranges::sort(column, std::greater<>());
  for (std::uint32_t k = 0; k < n; ++k) EXPECT_NEAR(static_cast<double>(column[k]), 400'000 / 2.717857 / (k + 1), 8);
  EXPECT_NE(matrix, skewed_matrix(n, 4 * 100'000, 4, 1.0, 8)) << "others are popular with another seed";
  // No skew: equal parts.
  for (const std::uint64_t octets : skewed_matrix(n, 4 * 800, 4, 0.0, 1)) EXPECT_EQ(octets, 400u);
}

}  // namespace
}  // namespace railyard::collectives
