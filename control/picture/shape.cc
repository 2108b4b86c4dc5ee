#include "control/picture/shape.h"

#include <cstddef>
#include <set>
#include <vector>

namespace railyard::picture {

Shape shape_of(const routing::Graph& graph) {
  constexpr std::size_t kMostSwitches = 80;
  constexpr std::size_t kMostDimensions = 3;
  std::set<std::vector<int>> places;
  std::size_t dimensions = 0;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) {
      std::set<std::size_t> switches;
      for (const routing::Graph::Edge& e : graph.edges(n)) switches.insert(e.neighbour);
      if (switches.size() != 1 || !graph.is_switch(*switches.begin())) return Shape::kTiers;
      continue;
    }
    const std::vector<int>& at = graph.lab().nodes[n].at;
    if (at.empty() || (dimensions != 0 && at.size() != dimensions) || !places.insert(at).second) return Shape::kTiers;
    dimensions = at.size();
  }
  if (places.size() < 2 || places.size() > kMostSwitches) return Shape::kTiers;
  if (graph.order().order() == spec::PathOrder::kGroups) return Shape::kGroups;
  if (dimensions == 1) return Shape::kCircle;
  return dimensions <= kMostDimensions ? Shape::kGrid : Shape::kTiers;
}

}  // namespace railyard::picture
