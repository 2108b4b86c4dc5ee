#include "control/hunt/fluid.h"

#include <algorithm>
#include <limits>
#include <span>

namespace railyard::hunt {

std::vector<double> fluid_times(const std::vector<double>& capacities, const std::vector<FluidFlow>& flows) {
  // A link of its own for each flow says its greatest rate.
  std::vector<double> all = capacities;
  std::vector<std::vector<estimate::LinkUse>> uses;
  for (const FluidFlow& f : flows) {
    uses.push_back(f.path);
    uses.back().push_back({static_cast<std::uint32_t>(all.size()), 1});
    all.push_back(f.most_rate * f.wire);
  }
  estimate::MaxMin max_min(all);
  std::vector<double> left, times(flows.size(), 0), rates;
  for (const FluidFlow& f : flows) left.push_back(f.octets);
  double now = 0;
  for (;;) {
    std::vector<std::size_t> active;
    std::vector<std::span<const estimate::LinkUse>> paths;
    double next = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < flows.size(); ++i) {
      if (left[i] <= 0) continue;
      if (flows[i].start > now) {
        next = std::min(next, flows[i].start);
        continue;
      }
      active.push_back(i);
      paths.emplace_back(uses[i]);
    }
    if (active.empty() && next == std::numeric_limits<double>::max()) return times;
    if (!active.empty()) max_min.rates(paths, rates);
    for (std::size_t a = 0; a < active.size(); ++a)
      next = std::min(next, now + left[active[a]] / (rates[a] / flows[active[a]].wire));
    for (std::size_t a = 0; a < active.size(); ++a) {
      const std::size_t i = active[a];
      left[i] -= rates[a] / flows[i].wire * (next - now);
      // Half an octet is what is left of rounding.
      if (left[i] < 0.5) {
        left[i] = 0;
        times[i] = next - flows[i].start;
      }
    }
    now = next;
  }
}

}  // namespace railyard::hunt
