// The trade-off between two figures: of many points those that no other beats in both.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "control/report/metrics/metric.h"

namespace railyard::tune {

using Pair = std::pair<double, double>;

// Indices of the points of the Pareto front, by ascending first figure; of equal points the first. Points without a
// value are on no front.
std::vector<std::size_t> pareto_front(const std::vector<std::optional<Pair>>& points, report::Better first,
                                      report::Better second);

}  // namespace railyard::tune
