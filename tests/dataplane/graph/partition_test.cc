#include "dataplane/graph/partition.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace railyard {
namespace {

// Two rings of `each` vertices with one edge between them.
WeightedGraph two_rings(std::size_t each) {
  WeightedGraph graph(2 * each);
  for (std::size_t v = 0; v < 2 * each; ++v) graph.add_weight(v, 1);
  for (std::size_t v = 0; v < each; ++v) {
    graph.add_edge(v, (v + 1) % each);
    graph.add_edge(each + v, each + (v + 1) % each);
  }
  graph.add_edge(0, each);
  return graph;
}

TEST(Partition, CutsWhereTheFewestEdgesAre) {
  const std::vector<std::size_t> part = partition(two_rings(8), 2);
  ASSERT_EQ(part.size(), 16u);
  EXPECT_NE(part[0], part[8]);
  for (std::size_t v = 0; v < 8; ++v) {
    EXPECT_EQ(part[v], part[0]) << v;
    EXPECT_EQ(part[8 + v], part[8]) << v;
  }
}

TEST(Partition, PartsWeighAboutTheSame) {
  WeightedGraph graph(12);
  graph.add_weight(0, 9);
  for (std::size_t v = 1; v < 12; ++v) graph.add_weight(v, 1);
  for (std::size_t v = 0; v < 12; ++v) graph.add_edge(v, (v + 1) % 12);
  const std::vector<std::size_t> part = partition(graph, 2);
  std::vector<std::size_t> weight(2, 0);
  for (std::size_t v = 0; v < 12; ++v) weight.at(part.at(v)) += graph.weight(v);
  EXPECT_LE(std::ranges::max(weight), 11u);
}

TEST(Partition, EdgesBetweenTheSameVerticesAreOneHeavyEdge) {
  // A line; its middle edge is there three times, so that the cut goes elsewhere.
  WeightedGraph graph(4);
  graph.add_edge(0, 1);
  for (int i = 0; i < 3; ++i) graph.add_edge(1, 2);
  graph.add_edge(2, 3);
  graph.add_edge(3, 3);
  EXPECT_EQ(graph.neighbours(1).at(2), 3u);
  EXPECT_EQ(graph.neighbours(2).at(1), 3u);
  EXPECT_EQ(graph.neighbours(3).size(), 1u);
}

TEST(Partition, HeavyEdgesAreKeptWhole) {
  WeightedGraph ring(8);
  for (std::size_t v = 0; v < 8; ++v) {
    ring.add_weight(v, 1);
    ring.add_edge(v, (v + 1) % 8, v % 4 == 1 ? 1 : 100);
  }
  const std::vector<std::size_t> part = partition(ring, 2);
  for (std::size_t v : {2u, 3u, 4u, 6u, 7u, 0u}) EXPECT_EQ(part[v], part[(v + 1) % 8]) << v;
  EXPECT_NE(part[1], part[2]);
}

TEST(Partition, TheSameGraphIsCutTheSameWayAgain) {
  const WeightedGraph graph = two_rings(16);
  EXPECT_EQ(partition(graph, 4), partition(graph, 4));
}

}  // namespace
}  // namespace railyard
