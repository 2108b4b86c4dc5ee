#include "control/collectives/skewed_matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dataplane/base/hash.h"

namespace railyard::collectives {

std::vector<std::uint64_t> skewed_matrix(std::uint32_t ranks, std::uint64_t size, std::uint32_t element, double exponent,
                                         std::uint64_t chance) {
  std::vector<std::uint32_t> by_popularity(ranks);
  std::iota(by_popularity.begin(), by_popularity.end(), 0u);
  std::ranges::stable_sort(by_popularity, {}, [&](std::uint32_t r) { return mix64(chance + r); });
  double all = 0;
  for (std::uint32_t k = 1; k <= ranks; ++k) all += std::pow(k, -exponent);
  std::vector<std::uint64_t> row(ranks);
  const std::uint64_t elements = size / element;
  std::uint64_t left = elements;
  for (std::uint32_t k = 0; k < ranks; ++k) {
    const double share = std::pow(k + 1, -exponent) / all;
    const auto part = std::min(left, static_cast<std::uint64_t>(share * static_cast<double>(elements)));
    row[by_popularity[k]] = part * element;
    left -= part;
  }
  // What rounding has left goes to the most popular ones, an element each.
  for (std::uint32_t k = 0; left > 0; k = (k + 1) % ranks, --left) row[by_popularity[k]] += element;
  std::vector<std::uint64_t> matrix;
  matrix.reserve(std::size_t{ranks} * ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) matrix.insert(matrix.end(), row.begin(), row.end());
  return matrix;
}

}  // namespace railyard::collectives
