// Which paths direct topologies take, at the start and when links are gone, and that they cannot deadlock.
#include "control/routing/path_order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/routing/buffer_cycles.h"
#include "control/routing/shortest_paths.h"
#include "control/spec/load.h"

namespace railyard::routing {
namespace {

using testing::IsEmpty;
using testing::Not;

spec::Lab preset_lab(const std::string& keys, const std::string& more = "") {
  return spec::parse("name: x\n" + more + "topology: { preset: " + keys + " }\n", "x.yaml");
}

// All ways that frames may take from a switch to an origin, each as the switches on it; at most 64.
void follow(const Graph& graph, const PathsTo& paths, std::vector<std::size_t> way, std::vector<std::vector<std::size_t>>& all) {
  ASSERT_LE(way.size(), graph.size()) << "a loop";
  if (paths.distance(way.back()) == 0) {
    if (all.size() < 64) all.push_back(std::move(way));
    return;
  }
  ASSERT_FALSE(paths.group(way.back()).ports.empty()) << graph.lab().nodes[way.back()].name << " has no next hop";
  for (const PortIndex port : paths.group(way.back()).ports) {
    const auto edge = std::ranges::find(graph.edges(way.back()), port, &Graph::Edge::port);
    std::vector<std::size_t> longer = way;
    longer.push_back(edge->neighbour);
    follow(graph, paths, std::move(longer), all);
  }
}

std::vector<std::vector<std::size_t>> ways(const Graph& graph, std::size_t from, std::size_t to) {
  const PathsTo paths(graph, Origin{{}, {{to, {}}}});
  std::vector<std::vector<std::size_t>> all;
  follow(graph, paths, {from}, all);
  return all;
}

// The dimension of each hop.
std::vector<int> dimensions(const spec::Lab& l, const std::vector<std::size_t>& way) {
  std::vector<int> out;
  for (std::size_t i = 0; i + 1 < way.size(); ++i) {
    const auto& a = l.nodes[way[i]].at;
    out.push_back(static_cast<int>(std::ranges::mismatch(a, l.nodes[way[i + 1]].at).in1 - a.begin()));
  }
  return out;
}

std::vector<std::size_t> switches(const spec::Lab& l) {
  std::vector<std::size_t> out;
  for (std::size_t n = 0; n < l.nodes.size(); ++n)
    if (l.nodes[n].kind == spec::NodeSpec::Kind::kSwitch) out.push_back(n);
  return out;
}

TEST(PathOrder, GridsGoAlongOneDimensionAfterTheOther) {
  for (const char* keys : {"torus, size: [5, 4]", "torus, size: [3, 4, 2]", "flattened-butterfly, size: [4, 3]"}) {
    const spec::Lab l = preset_lab(keys);
    const Graph graph(l);
    const bool is_torus = std::string(keys).starts_with("torus");
    for (const std::size_t a : switches(l))
      for (const std::size_t b : switches(l)) {
        std::size_t hops = 0;  // the shortest
        for (std::size_t d = 0; d < l.nodes[a].at.size(); ++d) {
          int size = 0;
          for (const std::size_t n : switches(l)) size = std::max(size, l.nodes[n].at[d] + 1);
          const int apart = std::abs(l.nodes[a].at[d] - l.nodes[b].at[d]);
          hops += static_cast<std::size_t>(is_torus ? std::min(apart, size - apart) : std::min(apart, 1));
        }
        for (const auto& way : ways(graph, a, b)) {
          EXPECT_EQ(way.size() - 1, hops);
          EXPECT_TRUE(std::ranges::is_sorted(dimensions(l, way))) << keys;
        }
      }
  }
}

TEST(PathOrder, DragonfliesHaveOneHopBetweenGroups) {
  for (const char* keys : {"dragonfly", "dragonfly, p: 1, a: 5, h: 2, groups: 4", "dragonfly-plus, leaves-per-group: 2"}) {
    const spec::Lab l = preset_lab(keys);
    const Graph graph(l);
    for (const std::size_t a : switches(l))
      for (const std::size_t b : switches(l)) {
        if (l.nodes[a].role == "spine" || l.nodes[b].role == "spine") continue;
        for (const auto& way : ways(graph, a, b)) {
          const auto between = std::ranges::count(dimensions(l, way), 0);
          EXPECT_EQ(between, l.nodes[a].at[0] == l.nodes[b].at[0] ? 0 : 1);
          EXPECT_LE(way.size(), 4u);
        }
      }
  }
}

std::size_t link_between(const spec::Lab& l, const std::string& a, const std::string& b) {
  return static_cast<std::size_t>(std::ranges::find_if(l.links, [&](const spec::LinkSpec& k) {
                                    return (k.a.node == a && k.b.node == b) || (k.a.node == b && k.b.node == a);
                                  }) -
                                  l.links.begin());
}

// s1..s5 are a row. Without the link from s2 to s3 its traffic goes the long way round the row, still before the column.
TEST(PathOrder, ALostLinkOfARingLeavesTheLongWayRound) {
  const spec::Lab l = preset_lab("torus, size: [5, 3]");
  Graph graph(l);
  graph.set_up(link_between(l, "s2", "s3"), false);
  const auto way = ways(graph, graph.node("s2"), graph.node("s8"));
  ASSERT_EQ(way.size(), 1u);
  EXPECT_EQ(dimensions(l, way[0]), (std::vector{0, 0, 0, 0, 1}));
}

// The way out of order is the only one, and better than none.
TEST(PathOrder, WhatHasNoPathInOrderTakesAnother) {
  const spec::Lab l = preset_lab("flattened-butterfly, size: [2, 2]");
  Graph graph(l);
  graph.set_up(link_between(l, "s1", "s2"), false);
  const auto way = ways(graph, graph.node("s1"), graph.node("s4"));
  ASSERT_EQ(way.size(), 1u);
  EXPECT_EQ(dimensions(l, way[0]), (std::vector{1, 0}));
}

TEST(PathOrder, EverybodyIsReachedWithoutLoopsAsLongAsLinksAreLeft) {
  for (const char* keys : {"torus, size: [4, 4]", "flattened-butterfly, size: [3, 3]", "dragonfly, p: 1, a: 3, h: 1",
                           "dragonfly-plus, leaves-per-group: 2"}) {
    const spec::Lab l = preset_lab(keys);
    for (std::size_t lost = 0; lost < l.links.size(); ++lost) {
      if (l.links[lost].a.node[0] == 'h') continue;
      Graph graph(l);
      graph.set_up(lost, false);
      for (const std::size_t a : switches(l)) EXPECT_THAT(ways(graph, a, 0), Not(IsEmpty())) << keys << ", link " << lost;
    }
  }
}

// ---- Deadlock ------------------------------------------------------------------------------------------------------

std::vector<std::string> circle(const spec::Lab& l) {
  const Graph graph(l);
  std::vector<std::string> out;
  for (const WaitingBuffer& b : buffer_cycle(graph, shortest_paths(graph)))
    out.push_back(fmt::format("{}:{} {}", l.nodes[b.from].name, b.port.value + 1, b.priority));
  return out;
}

TEST(BufferCycle, PresetsOfDirectTopologiesHaveNone) {
  const std::string valiant =
      "qos: { default: { classes: { 3: { lossless: true, path: valiant }, 6: { lossless: true, path: ugal } } } }\n";
  const std::string two = "qos: { default: { classes: { 0: { weight: 2 }, 2: { lossless: true }, 5: { lossless: true } } } }\n";
  for (const char* keys :
       {"torus, size: [5, 5]", "torus, size: [4, 4, 4]", "torus, size: [6, 3]", "ring, switches: 7", "tree, levels: 3",
        "full-mesh, switches: 5", "flattened-butterfly, size: [3, 3, 3]", "dragonfly", "dragonfly-plus, leaves-per-group: 2"}) {
    EXPECT_THAT(circle(preset_lab(keys)), IsEmpty()) << keys;
    if (std::string(keys).find("4, 4, 4") == std::string::npos) EXPECT_THAT(circle(preset_lab(keys, two)), IsEmpty()) << keys;
  }
  EXPECT_THAT(circle(preset_lab("dragonfly", valiant)), IsEmpty());
  EXPECT_THAT(circle(preset_lab("dragonfly, p: 1, a: 4, h: 1, groups: 3", valiant)), IsEmpty());
}

TEST(BufferCycle, IsThereWithoutAClassChange) {
  EXPECT_THAT(circle(preset_lab("torus, size: [5, 5], date-lines: false")), Not(IsEmpty()));
  EXPECT_THAT(circle(preset_lab("ring, switches: 7, date-lines: false")), testing::SizeIs(7));
  EXPECT_THAT(circle(preset_lab("dragonfly, class-change: false")), Not(IsEmpty()));
}

// All shortest paths of a flattened butterfly turn as they like.
TEST(BufferCycle, IsThereWithoutAnOrderOfDimensions) {
  EXPECT_THAT(circle(preset_lab("flattened-butterfly, size: [3, 3]")), IsEmpty());
  EXPECT_THAT(circle(preset_lab("flattened-butterfly, size: [3, 3]", "routing: { order: any }\n")), Not(IsEmpty()));
}

// Groups of one switch each: minimal paths have one hop, and no switch forwards for others. Those of Valiant have two.
TEST(BufferCycle, SeesDetours) {
  const auto with = [](const std::string& path) {
    return circle(preset_lab("dragonfly, p: 1, a: 1, h: 2, class-change: false",
                             "qos: { default: { classes: { 3: { lossless: true, path: " + path + " } } } }\n"));
  };
  EXPECT_THAT(with("ecmp"), IsEmpty());
  EXPECT_THAT(with("valiant"), testing::SizeIs(3));
  EXPECT_THAT(with("ugal"), testing::SizeIs(3));
}

}  // namespace
}  // namespace railyard::routing
