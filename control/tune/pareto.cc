#include "control/tune/pareto.h"

#include <algorithm>

namespace railyard::tune {

std::vector<std::size_t> pareto_front(const std::vector<std::optional<Pair>>& points, report::Better first,
                                      report::Better second) {
  const auto cost = [](double v, report::Better better) { return better == report::Better::kHigher ? -v : v; };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i]) order.push_back(i);
  const auto costs = [&](std::size_t i) {
    return Pair{cost(points[i]->first, first), cost(points[i]->second, second)};
  };
  std::ranges::stable_sort(order, {}, costs);
  std::vector<std::size_t> front;
  for (const std::size_t i : order)
    if (front.empty() || costs(i).second < costs(front.back()).second) front.push_back(i);
  if (first == report::Better::kHigher) std::ranges::reverse(front);
  return front;
}

}  // namespace railyard::tune
