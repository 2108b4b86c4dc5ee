#include "control/estimate/max_min.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace railyard::estimate {

MaxMin::MaxMin(std::vector<double> capacities)
    : capacities_(std::move(capacities)), left_(capacities_.size()), shares_(capacities_.size()), flows_(capacities_.size()) {}

void MaxMin::rates(std::span<const std::span<const LinkUse>> flows, std::vector<double>& rates) {
  constexpr double kUnknown = -1;
  rates.assign(flows.size(), kUnknown);
  for (std::uint32_t f = 0; f < flows.size(); ++f)
    for (const LinkUse& use : flows[f]) {
      if (flows_[use.link].empty()) {
        used_.push_back(use.link);
        left_[use.link] = capacities_[use.link];
        shares_[use.link] = 0;
      }
      flows_[use.link].push_back(f);
      shares_[use.link] += use.share;
    }
  // All links whose flows would have the least are full at once; rounding must not part what is equal.
  constexpr double kEqual = 1e-9;
  std::size_t open = flows.size();
  while (open > 0) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t l : used_)
      if (shares_[l] > kEqual) least = std::min(least, std::max(left_[l], 0.0) / shares_[l]);
    const double bound = least * (1 + kEqual);
    const std::size_t before = open;
    for (const std::uint32_t l : used_) {
      if (shares_[l] <= kEqual || std::max(left_[l], 0.0) / shares_[l] > bound) continue;
      for (const std::uint32_t f : flows_[l]) {
        if (rates[f] != kUnknown) continue;
        rates[f] = least;
        --open;
        for (const LinkUse& use : flows[f]) {
          left_[use.link] -= least * use.share;
          shares_[use.link] -= use.share;
        }
      }
      shares_[l] = 0;
    }
    if (open == before) break;
  }
  for (const std::uint32_t l : used_) flows_[l].clear();
  used_.clear();
}

}  // namespace railyard::estimate
