// Cutting a graph into parts of about the same weight with few edges between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace railyard {

// Undirected. All edges that join the same two vertices are one, as heavy as all of them together.
class WeightedGraph {
 public:
  // Vertices of weight 0, and no edges.
  explicit WeightedGraph(std::size_t vertices) : weights_(vertices, 0), neighbours_(vertices) {}

  std::size_t size() const noexcept { return weights_.size(); }
  void add_weight(std::size_t vertex, std::size_t more) { weights_[vertex] += more; }
  // `a` and `b` may be the same vertex: then nothing is added.
  void add_edge(std::size_t a, std::size_t b, std::size_t weight = 1);

  std::size_t weight(std::size_t vertex) const noexcept { return weights_[vertex]; }
  // Of a vertex: its neighbours with the weight of the edge to each.
  const std::map<std::size_t, std::size_t>& neighbours(std::size_t vertex) const noexcept { return neighbours_[vertex]; }

 private:
  std::vector<std::size_t> weights_;
  std::vector<std::map<std::size_t, std::size_t>> neighbours_;
};

// The part of each vertex, below `parts`; a vertex of weight 0 counts as one of weight 1. Parts may be empty where there are
// few vertices. METIS does it (Karypis and Kumar, "A Fast and High Quality Multilevel Scheme for Partitioning Irregular
// Graphs", SIAM J. Sci. Comput. 20(1), 1998), always with the same seed; but it draws from the C library's generator, so on
// another machine the cut may be another. Empty: METIS had no memory. Precondition: 1 < parts < size(), as METIS wants it.
std::vector<std::size_t> partition(const WeightedGraph& graph, std::size_t parts);

}  // namespace railyard
