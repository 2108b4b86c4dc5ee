#include "dataplane/graph/partition.h"

#include <algorithm>

#include <metis.h>

namespace railyard {

void WeightedGraph::add_edge(std::size_t a, std::size_t b, std::size_t weight) {
  if (a == b) return;
  neighbours_[a][b] += weight;
  neighbours_[b][a] += weight;
}

std::vector<std::size_t> partition(const WeightedGraph& graph, std::size_t parts) {
  std::vector<idx_t> first{0}, ends, edges, weights;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const auto& [other, weight] : graph.neighbours(v)) {
      ends.push_back(static_cast<idx_t>(other));
      edges.push_back(static_cast<idx_t>(weight));
    }
    first.push_back(static_cast<idx_t>(ends.size()));
    weights.push_back(static_cast<idx_t>(std::max<std::size_t>(graph.weight(v), 1)));
  }
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // of its own generator
  auto vertices = static_cast<idx_t>(graph.size());
  auto wanted = static_cast<idx_t>(parts);
  idx_t balances = 1;
  idx_t cut = 0;
  std::vector<idx_t> part(graph.size());
  if (METIS_PartGraphRecursive(&vertices, &balances, first.data(), ends.data(), weights.data(), nullptr, edges.data(), &wanted,
                               nullptr, nullptr, options, &cut, part.data()) != METIS_OK)
    return {};
  return {part.begin(), part.end()};
}

}  // namespace railyard
