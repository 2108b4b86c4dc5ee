#include "dataplane/switch/path/wcmp.h"

#include <algorithm>
#include <numeric>

namespace railyard {

Wcmp::Wcmp(std::span<const std::uint32_t> weights) {
  const std::uint32_t common =
      std::accumulate(weights.begin(), weights.end(), 0u, std::gcd<std::uint32_t, std::uint32_t>);
  const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
  std::vector<std::uint32_t> share;
  std::vector<std::pair<std::uint64_t, std::size_t>> rest;  // what rounding took, and from whom
  std::uint32_t dealt = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (sum / common <= kMostEntries) {
      share.push_back(weights[i] / common);
      continue;
    }
    const std::uint64_t exact = std::uint64_t{weights[i]} * kMostEntries;  // x sum
    share.push_back(std::max(1u, static_cast<std::uint32_t>(exact / sum)));
    rest.emplace_back(exact % sum, i);
    dealt += share.back();
  }
  // The method of the largest remainder.
  std::ranges::stable_sort(rest, std::greater<>{}, &std::pair<std::uint64_t, std::size_t>::first);
  for (const auto& [remainder, member] : rest) {
    if (dealt >= kMostEntries) break;
    ++share[member];
    ++dealt;
  }
  for (std::size_t i = 0; i < share.size(); ++i)
    entries_.insert(entries_.end(), share[i], static_cast<std::uint16_t>(i));
}

}  // namespace railyard
